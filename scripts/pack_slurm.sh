#!/usr/bin/env bash
set -euo pipefail

usage() {
    cat <<END
Pack a dataset by a SLURM job array: each task writes a part, a last job commits and verifies.

Usage: ${0##*/} [--parts N] [--NAME=VALUE...] SRC DST [OPTIONS]

  --parts N         tasks of the array (default: 16); more than there are shards have nothing to do
  --NAME=VALUE      goes to sbatch, as --time=4:00:00, --partition=cpu or --cpus-per-task=8
  -h, --help        this text

OPTIONS after DST go to 'packer pack' (such as --max-side 512; see 'packer pack --help').
SRC, DST and the environment that packer is installed in have to lie on a file system that the
nodes share. Logs go to DST.logs. The script can be run again at any point: what is packed stays.
END
}

die() {
    echo "${0##*/}: $*" >&2
    exit 2
}

parts=16
slurm=()
while [ $# -gt 0 ]; do
    case "$1" in
        --parts)
            [ $# -ge 2 ] || die "$1 needs a value."
            parts=$2
            shift 2
            ;;
        --parts=*) parts=${1#*=} && shift ;;
        -h | --help) usage && exit 0 ;;
        --*=*) slurm+=("$1") && shift ;;
        -*) die "$1 is not of the form --NAME=VALUE. --help tells more." ;;
        *) break ;;
    esac
done
[ $# -ge 2 ] || die "SRC and DST are missing. --help tells more."
[[ $parts =~ ^[1-9][0-9]{0,5}$ ]] || die "--parts is a number from 1 on, not $parts."
[ -e "$1" ] || die "there is no $1."
command -v sbatch >/dev/null || die "there is no sbatch: run it where jobs are submitted."
packer=$(command -v packer) || die "packer is not on PATH: activate its environment first."
src=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
mkdir -p "$(dirname "$2")"
dst=$(cd "$(dirname "$2")" && pwd)/$(basename "$2")
shift 2
mkdir -p "$dst.logs"

# What a task runs; its cores are known there alone.
# shellcheck disable=SC2016
jobs='--jobs "${SLURM_CPUS_PER_TASK:-1}"'
printf -v pack '%q ' "$packer" pack "$src" "$dst"
printf -v options ' %q' "$@"
[ $# -gt 0 ] || options=""
# Exit code 1: done, but files were rejected, as --on-error skip allows; the last job names them.
array=$(
    sbatch --parsable ${slurm[@]+"${slurm[@]}"} --job-name=pack-parts --array="1-$parts" \
        --output="$dst.logs/part-%a.log" \
        --wrap "$pack$jobs$options --part slurm || [ \$? -eq 1 ]"
)
printf -v verify '%q ' "$packer" verify "$dst"
# Also after a part that has failed: what it has not written is written, or named.
last=$(
    sbatch --parsable ${slurm[@]+"${slurm[@]}"} --job-name=pack-commit \
        --dependency="afterany:${array%%;*}" --output="$dst.logs/commit.log" \
        --wrap "$pack$jobs$options && $verify$jobs"
)
echo "Job ${array%%;*} packs $parts parts, job ${last%%;*} commits $dst; logs are in $dst.logs."
