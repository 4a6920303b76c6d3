#!/usr/bin/env bash
set -euo pipefail
# shellcheck source=scripts/prepare_common.sh
. "$(dirname "${BASH_SOURCE[0]}")/prepare_common.sh"

usage() {
    cat <<END
Make a dataset of ImageNet (ILSVRC 2012): 1,281,167 training and 50,000 validation images.

Usage: ${0##*/} --from PLACE DST [OPTIONS]

PLACE has the archives as image-net.org has them (which asks for an account):
  ILSVRC2012_img_train.tar          138 GB, read in place and never unpacked
  ILSVRC2012_img_val.tar            6.3 GB, copied once to sort it into classes
  ILSVRC2012_devkit_t12.tar.gz      the classes of the validation images
In place of the last one, LOC_val_solution.csv from Kaggle will do. The classes are the sorted WordNet
ids (n01440764 is 0), as everywhere. DST needs some 147 GB, and WORK 6.3 GB that can go at the end.
$COMMON_OPTIONS
END
}

parse "$@"
[ -n "$FROM" ] || die "--from is missing: where are the archives? --help tells more."
mkdir -p "$WORK/imagenet"
fetch ILSVRC2012_img_train.tar 1d675b47d978889d74fa0da5fadfb00e
link "$FILE" "$WORK/imagenet/train.tar"
if [ ! -e "$WORK/imagenet/val.tar" ]; then
    if [ -e "$FROM/LOC_val_solution.csv" ]; then
        labels=$FROM/LOC_val_solution.csv
    else
        fetch ILSVRC2012_devkit_t12.tar.gz fa75699e90414af021442c21a62c3abf
        labels=$FILE
    fi
    fetch ILSVRC2012_img_val.tar 29b22e2961454d5413ddabcf34fc5622
    echo "Sorting the validation images into classes"
    "$(packer_python)" "$(dirname "${BASH_SOURCE[0]}")/imagenet_val.py" \
        "$FILE" "$labels" "$WORK/imagenet/val.tar"
fi
pack_and_verify "$WORK/imagenet"
