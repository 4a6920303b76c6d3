#!/usr/bin/env bash
# From nothing to batches: an environment, sample images, shards, shuffled epochs, measurements.
# Everything goes to .venv and .demo in the checkout; remove them to begin anew. It takes no arguments.
set -euo pipefail
if [ $# -gt 0 ]; then
    sed -n '2,3s/^# //p' "$0"
    [ "$1" = --help ]
    exit
fi
cd "$(dirname "$0")/.."
. scripts/environment.sh

mkdir -p .demo
if [ ! -d .demo/images ]; then
    rm -rf .demo/unfinished
    patiently "Making 2,000 sample images" python scripts/sample_images.py .demo/unfinished 2000
    mv .demo/unfinished .demo/images
fi
patiently "Packing the images" packer pack .demo/images .demo/shards --shard-size 50MB
patiently "Reading three epochs" python - .demo/shards <<'END'
import sys, time
import reader

began = time.perf_counter()
transforms = [reader.RandomResizedCrop(224), reader.RandomHorizontalFlip()]
loader = reader.Loader(sys.argv[1], batch_size=64, shuffle=True, transforms=transforms)
prefetcher = reader.CUDAPrefetcher(loader, mean=reader.IMAGENET_MEAN, std=reader.IMAGENET_STD)
for epoch in range(3):
    start, count = time.perf_counter(), 0
    for images, labels in prefetcher:
        if not epoch and not count:
            print(f"first batch after {time.perf_counter() - began:.2f} s")
        count += len(images)
    rate = count / (time.perf_counter() - start)
    print(f"epoch {epoch}: {count} images on {prefetcher.device}, {rate:.0f} images/s")
print(f"{loader.statistics().workers} workers; {loader.statistics().bottleneck}")
loader.close()
END
echo
patiently "Measuring against torch's DataLoader over the same images" \
    python scripts/bench.py read --shards .demo/shards --images .demo/images --epochs 1 --batch-size 64
cat <<'END'

Next, with images of your own:
    source .venv/bin/activate       # then packer and reader are there
    packer pack ./images ./shards   # ./images: a folder for each class, or whatever README.md names
    packer bench ./shards           # how fast this machine reads them
docs/quick-start.md goes on from there.
END
