#!/usr/bin/env bash
set -euo pipefail
# shellcheck source=scripts/prepare_common.sh
. "$(dirname "${BASH_SOURCE[0]}")/prepare_common.sh"

usage() {
    cat <<END
Make a dataset of COCO 2017: 118,287 training and 5,000 validation images with their annotations.

Usage: ${0##*/} [--from PLACE] DST [OPTIONS]

PLACE has train2017.zip, val2017.zip and annotations_trainval2017.zip (the default is to download
them, 19 GB, from images.cocodataset.org). They are unpacked in WORK (20 GB), which can go at the end.
$COMMON_OPTIONS
END
}

parse "$@"
mkdir -p "$WORK/coco"
site=http://images.cocodataset.org
files=(
    train2017 cced6f7f71b7629ddf16f17bbcfab6b2 zips/train2017.zip
    val2017 442b8da7639aecaf257c1dceb8ba8c80 zips/val2017.zip
    annotations f4bbac642086de4f52a3fdda2de5fa2c annotations/annotations_trainval2017.zip
)
for ((i = 0; i < ${#files[@]}; i += 3)); do
    folder=${files[i]} path=${files[i + 2]}
    [ ! -e "$WORK/coco/$folder" ] || continue
    fetch "${path##*/}" "${files[i + 1]}" "$site/$path"
    echo "Unpacking $FILE"
    rm -rf "$WORK/unpacking"
    "$(packer_python)" -m zipfile -e "$FILE" "$WORK/unpacking"
    mv "$WORK/unpacking/$folder" "$WORK/coco/$folder"
    rm -rf "$WORK/unpacking"
done
pack_and_verify "$WORK/coco"
