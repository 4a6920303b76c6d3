#!/usr/bin/env bash
# Fuzzes the code that reads what strangers may have written; `--help` tells more.
set -euo pipefail
cd "$(dirname "$0")/.."

if [[ ${1:-} == -h || ${1:-} == --help ]]; then
    cat <<END
Usage: scripts/fuzz.sh [SECONDS] [TARGET...]

Fuzz each target for SECONDS (default: 60), or those that are named: the modules of
tests/fuzz/targets. Inputs that reach new code are kept in .fuzz/TARGET/inputs, where the next run
begins; an input that is a finding (an exception that is not the project's own, a crash, a hang, or
1 GiB of memory) lies in .fuzz/TARGET/found. Exit code: 1 if there was one.
END
    exit
fi
seconds=60
if [[ ${1:-} =~ ^[0-9]+$ ]]; then
    seconds=$1
    shift
fi

. scripts/environment.sh
python -c "import atheris" 2>/dev/null || python -m pip install --quiet --disable-pip-version-check \
    --constraint scripts/supply/constraints.txt --editable '.[fuzz]'

if [ $# = 0 ]; then
    read -ra all < <(cd tests/fuzz && python -c "import targets; print(*targets.NAMES)")
    set -- "${all[@]}"
fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export TMPDIR=$scratch PYTHONPATH=$PWD
status=0
for target; do
    folder=.fuzz/$target
    mkdir -p "$folder/inputs" "$folder/found"
    python scripts/fuzz_target.py "$target" --seeds "$folder/inputs" 2>"$folder/log"
    touch "$scratch/began"
    began=$SECONDS
    ended=0
    python scripts/fuzz_target.py "$target" -max_total_time="$seconds" -timeout=20 -max_len=65536 \
        -rss_limit_mb=2048 -print_final_stats=1 -artifact_prefix="$folder/found/" \
        "$folder/inputs" >"$folder/log" 2>&1 || ended=$?
    tried=$(sed -n 's/^stat::number_of_executed_units: *//p' "$folder/log" | tail -1)
    found=$(find "$folder/found" -type f ! -name 'slow-*' -newer "$scratch/began")
    if [ "$ended" = 0 ]; then
        echo "$target: ${tried:-0} inputs, 0 findings, $((SECONDS - began)) s"
    else
        status=1
        echo "$target: ${tried:-0} inputs, 1 finding, $((SECONDS - began)) s"
        grep -A 20 -m 1 -E "Uncaught Python exception|ERROR: libFuzzer" "$folder/log" ||
            tail -20 "$folder/log"
        for input in ${found:-"(no input was kept; see $folder/log)"}; do
            echo "  input: $input"
            echo "  again: PYTHONPATH=. .venv/bin/python scripts/fuzz_target.py $target $input"
        done
    fi
done
exit $status
