#!/usr/bin/env bash
# From nothing to batches: an environment, sample images, shards, shuffled epochs, measurements.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/environment.sh

mkdir -p .demo
if [ ! -d .demo/images ]; then
    rm -rf .demo/unfinished
    patiently "Making 2,000 sample images" python scripts/sample_images.py .demo/unfinished 2000
    mv .demo/unfinished .demo/images
fi
patiently "Packing the images" packer pack .demo/images .demo/shards --shard-size 50MB
patiently "Reading them" packer bench .demo/shards
patiently "Measuring against torch's DataLoader over the same images" \
    python scripts/bench.py read --shards .demo/shards --images .demo/images --epochs 1 --batch-size 64
cat <<'END'

Next, with images of your own:
    source .venv/bin/activate       # then packer and reader are there
    packer pack ./images ./shards   # ./images: a folder for each class, or whatever README.md names
    packer bench ./shards           # how fast this machine reads them
docs/quick-start.md goes on from there.
END
