#!/usr/bin/env bash
# From nothing to batches: an environment, sample images, shards, shuffled epochs, measurements.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/environment.sh

mkdir -p .demo
if [ ! -d .demo/images ]; then
    echo "Making 2,000 sample images ..."
    rm -rf .demo/unfinished
    patiently "making images" python scripts/sample_images.py .demo/unfinished 2000
    mv .demo/unfinished .demo/images
fi
patiently "packing" packer pack .demo/images .demo/shards --shard-size 50MB
patiently "reading" python scripts/demo.py .demo/shards
echo
echo "Measuring the loader against torch's DataLoader over the same images, and each stage alone ..."
patiently "measuring" python scripts/bench_read.py .demo/shards --images .demo/images --rounds 1 --batch-size 64
