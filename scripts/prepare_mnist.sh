#!/usr/bin/env bash
set -euo pipefail
# shellcheck source=scripts/prepare_common.sh
. "$(dirname "${BASH_SOURCE[0]}")/prepare_common.sh"

usage() {
    cat <<END
Make a dataset of MNIST: 60,000 training and 10,000 test images as pixels of 28 x 28.

Usage: ${0##*/} [--from PLACE] DST [OPTIONS]

PLACE has train-images-idx3-ubyte.gz and the three other files of MNIST (the default is to download
them, 12 MB). Fashion-MNIST has files of the same names: give PLACE, and --no-checksum for a URL.
$COMMON_OPTIONS
END
}

parse "$@"
mirror=https://ossci-datasets.s3.amazonaws.com/mnist
files=(
    train-images-idx3-ubyte.gz f68b3c2dcbeaaa9fbdd348bbdeb94873
    train-labels-idx1-ubyte.gz d53e105ee54ea40749a09fcbcd1e9432
    t10k-images-idx3-ubyte.gz 9fb629c4189551a2d022fa330f9573f3
    t10k-labels-idx1-ubyte.gz ec29112dd5afa0611ce80d1b7f02629c
)
mkdir -p "$WORK/mnist"
for ((i = 0; i < ${#files[@]}; i += 2)); do
    fetch "${files[i]}" "${files[i + 1]}" "$mirror/${files[i]}"
    link "$FILE" "$WORK/mnist/${files[i]}"
done
pack_and_verify "$WORK/mnist"
