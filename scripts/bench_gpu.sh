#!/usr/bin/env bash
set -euo pipefail

usage() {
    cat <<END
Measure all that concerns a GPU, in a limited time, on a machine without a package index.

Usage: ${0##*/} --fetch WHEELS    where there is an index: download the wheels to bring along
       ${0##*/} [OPTIONS]         on the machine, which has Python and torch

  --wheels WHEELS   install them into a folder of OUT
  --out OUT         where the tables and logs go (default: gpu-bench)
  --device DEVICE   cuda, or cpu: tries the steps out, with numbers that mean nothing
  --seconds N       in all (default: 480)
  --dry-run         only print the steps
  -h, --help        this text

The steps come by importance. One that fails or takes too long is named, and the others go on. OUT
gets gpu.md, the tables for the page of benchmarks, and a log of each step. Exit code: 1 if a step
was not done.
END
}

# What an environment with torch, torchvision, numba and OpenCV lacks.
NEEDED=(nvidia-nvimgcodec-cu13==0.9.0.20 nvidia-nvjpeg==13.3.2.43 torchcodec==0.17.0
    simplejpeg==1.9.0 isal==1.9.1 zlib-ng==1.1.0 cykooz.resizer==4.0.1)

FETCH="" WHEELS="" OUT=gpu-bench DEVICE=cuda LIMIT=480 DRY=""
while [ $# -gt 0 ]; do
    case "$1" in
        --fetch) FETCH=$2 && shift ;;
        --wheels) WHEELS=$(realpath "$2") && shift ;;
        --out) OUT=$2 && shift ;;
        --device) DEVICE=$2 && shift ;;
        --seconds) LIMIT=$2 && shift ;;
        --dry-run) DRY=yes ;;
        -h | --help) usage && exit 0 ;;
        *) echo "${0##*/}: there is no option $1. --help tells which there are." >&2 && exit 2 ;;
    esac
    shift
done
if [ "$FETCH" ]; then
    exec python3 -m pip download --quiet --no-deps --dest "$FETCH" --only-binary=:all: \
        --python-version 3.12 --implementation cp \
        --platform=manylinux{_2_28,_2_27,_2_24,_2_17,2014}_x86_64 "${NEEDED[@]}"
fi
OUT=$(realpath -m "$OUT")
cd "$(dirname "$0")/.."
export PYTHONPATH=$OUT/work/site:$PWD:${PYTHONPATH:-}
[ "$DRY" ] || mkdir -p "$OUT"
[ "$DRY" ] || : >"$OUT/gpu.md"
status=0 number=0

# step NAME SECONDS COMMAND...: run it in the time that is left, and print how it went.
step() {
    local name=$1 limit=$2 left=$((LIMIT - SECONDS)) began=$SECONDS code=0 log output=""
    shift 2
    printf -v log '%02d.log' $((number++))
    if [ "$DRY" ]; then
        printf '%s, at most %s s:\n   ' "$name" "$limit"
        printf ' %q' "$@"
        echo
        return
    fi
    [ "$limit" -le "$left" ] || limit=$left
    # Its children are ended with it.
    [ "$left" -le 0 ] || output=$(timeout --signal=KILL "$limit" "$@" 2>"$OUT/$log") || code=$?
    case $left:$code in
        0:* | -*) code=1 outcome="no time was left" ;;
        *:0) outcome="$((SECONDS - began)) s" ;;
        *:137) outcome="stopped after $limit s, see $log" ;;
        *) outcome="failed with $code, see $log" ;;
    esac
    [ "$code" = 0 ] || status=1
    printf '## %s (%s)\n\n%s\n\n' "$name" "$outcome" "$output" | tee -a "$OUT/gpu.md"
}

images=$OUT/work/images shards=$OUT/work/shards
count=4000 batch=256 batches=60 few=4 some=8 many=16
[ "$DEVICE" != cpu ] || count=40 batch=4 batches=2 few=1 some=1 many=1
# gpu NAME SECONDS WORKERS OPTIONS...: feed the GPU.
gpu() {
    step "$1" "$2" python3 scripts/bench.py gpu --images "$images" --shards "$shards" --rounds 1 \
        --device "$DEVICE" --batch-size $batch --batches $batches --workers "${@:3}"
}

[ -z "$WHEELS" ] || step Wheels 40 python3 -m pip install --quiet --no-index --no-deps --no-compile \
    --target "$OUT/work/site" "$WHEELS"/*.whl
step Images 60 python3 scripts/sample_images.py "$images" $count
step Shards 60 python3 -m packer pack "$images" "$shards" --quiet
gpu "4 workers" 150 $few
gpu "4 workers, each decoder" 90 $few --decoders --only "("
step Tests 60 python3 -m pytest -m gpu -q -rs -p no:cacheprovider \
    tests/reader/gpu_decode tests/reader/cuda tests/reader/guarantees
gpu "16 workers" 60 $many --only shardfeed
gpu "ResNet-18 at 160" 70 $many --network resnet18 --size 160
gpu "8 workers" 60 $some --only shardfeed
gpu "4 workers, torch.compile" 120 $few --compile
exit $status
