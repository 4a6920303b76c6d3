#!/usr/bin/env bash
set -euo pipefail

usage() {
    cat <<END
Pack a dataset on several machines that ssh reaches, by a Ray cluster for this run alone.

Usage: ${0##*/} [--hosts A,B,...] [--port PORT] SRC DST [OPTIONS]

  --hosts A,B,...   machines beside this one, which is the head and packs, too
  --port PORT       of the head (default: 6379)
  -h, --help        this text

OPTIONS after DST go to 'packer pack' (such as --max-side 512; see 'packer pack --help').
SRC, DST and the environment that packer and ray are installed in have to lie on a file system that
the machines share, under the same paths. Where there is a cluster already, this is all:
packer pack SRC DST --executor ray://HOST:10001
END
}

die() {
    echo "${0##*/}: $*" >&2
    exit 2
}

hosts="" port=6379
while [ $# -gt 0 ]; do
    case "$1" in
        --hosts | --port)
            [ $# -ge 2 ] || die "$1 needs a value."
            if [ "$1" = --hosts ]; then hosts=$2; else port=$2; fi
            shift 2
            ;;
        -h | --help) usage && exit 0 ;;
        -*) die "there is no option $1 before SRC. --help tells which there are." ;;
        *) break ;;
    esac
done
[ $# -ge 2 ] || die "SRC and DST are missing. --help tells more."
[[ $port =~ ^[1-9][0-9]{0,4}$ ]] || die "--port is a number, not $port."
packer=$(command -v packer) || die "packer is not on PATH: activate its environment first."
ray=$(command -v ray) || die "ray is not installed: pip install 'shardfeed[ray]'."

# Each runs in the foreground of a process of ours: so those end with this script, and nothing else.
began=()
# shellcheck disable=SC2317
finish() {
    for process in ${began[@]+"${began[@]}"}; do kill "$process" 2>/dev/null || true; done
    wait
}
trap finish EXIT

address=$(hostname -I 2>/dev/null | cut -d ' ' -f 1)
address=${address:-$(hostname)}:$port
log=$(mktemp)
"$ray" start --head --port="$port" --block >"$log" 2>&1 &
began+=($!)
seconds=60
until "$ray" status --address "$address" >/dev/null 2>&1; do
    kill -0 "${began[0]}" 2>/dev/null || die "Ray does not start: see $log."
    [ $((seconds -= 1)) -gt 0 ] || die "Ray does not answer at $address: see $log."
    sleep 1
done
IFS=, read -ra names <<<"$hosts"
for host in ${names[@]+"${names[@]}"}; do
    # With a terminal, the far end hears of the end of ssh.
    ssh -tt "$host" "$(printf '%q ' "$ray" start --address="$address" --block)" \
        </dev/null >>"$log" 2>&1 &
    began+=($!)
done
RAY_ADDRESS=$address "$packer" pack "$@" --executor ray
