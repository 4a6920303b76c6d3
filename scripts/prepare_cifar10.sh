#!/usr/bin/env bash
set -euo pipefail
# shellcheck source=scripts/prepare_common.sh
. "$(dirname "${BASH_SOURCE[0]}")/prepare_common.sh"

usage() {
    cat <<END
Make a dataset of CIFAR-10: 50,000 training and 10,000 test images as pixels of 32 x 32.

Usage: ${0##*/} [--from PLACE] DST [OPTIONS]

PLACE has cifar-10-python.tar.gz or cifar-10-binary.tar.gz (the default is to download the first,
170 MB, from www.cs.toronto.edu). Both give the same dataset.
$COMMON_OPTIONS
END
}

parse "$@"
if [[ $FROM == *cifar-10-binary.tar.gz || -e $FROM/cifar-10-binary.tar.gz ]]; then
    fetch cifar-10-binary.tar.gz c32a1d4ab5d03f1284b67883e8d87530
else
    fetch cifar-10-python.tar.gz c58f30108f718f92721af3b95e74349a \
        https://www.cs.toronto.edu/~kriz/cifar-10-python.tar.gz
fi
pack_and_verify "$FILE"
