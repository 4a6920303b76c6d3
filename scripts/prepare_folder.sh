#!/usr/bin/env bash
set -euo pipefail
# shellcheck source=scripts/prepare_common.sh
. "$(dirname "${BASH_SOURCE[0]}")/prepare_common.sh"

usage() {
    cat <<END
Make a dataset of your own images.

Usage: ${0##*/} --from PLACE [--md5 SUM] DST [OPTIONS]

PLACE is a folder with a folder for each class, or an archive of one, or the URL of an archive. A
download is checked by its MD5 sum if you give it.
$COMMON_OPTIONS
END
}

sum=""
arguments=()
while [ $# -gt 0 ]; do
    if [ "$1" = --md5 ]; then
        [ $# -ge 2 ] || die "--md5 needs a value."
        sum=$2
        shift 2
    else
        arguments+=("$1")
        shift
    fi
done
parse ${arguments[@]+"${arguments[@]}"}
[ -n "$FROM" ] || die "--from is missing: where are the images? --help tells more."
FILE=$FROM
if is_url "$FROM"; then
    [ -n "$sum" ] || CHECKSUM=no
    url=$FROM
    FROM=${url%/*}
    fetch "${url##*/}" "$sum"
fi
[ -e "$FILE" ] || die "$FILE is not there."
pack_and_verify "$FILE"
