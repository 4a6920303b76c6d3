# shellcheck shell=bash
# shellcheck disable=SC2034  # what it sets, the scripts use
# Sourced by the prepare_*.sh scripts: options, downloads, packing and verifying.
#
# A script gives its `usage` and calls `parse "$@"`; then FROM, DST, WORK and OPTIONS are set.

COMMON_OPTIONS="
  --from PLACE      where the files are: a folder, or the URL of one
  --work FOLDER     where downloads and unpacked files go (default: DST.work)
  --no-checksum     take downloads whose MD5 sum is not that of the publisher's file
  -h, --help        this text

OPTIONS after DST go to 'packer pack' (such as --jobs 4; see 'packer pack --help').
The script can be stopped and run again at any point: it goes on where it was."

die() {
    echo "${0##*/}: $*" >&2
    exit 2
}

parse() {
    FROM="" WORK="" CHECKSUM=yes
    while [ $# -gt 0 ]; do
        case "$1" in
            --from | --work)
                [ $# -ge 2 ] || die "$1 needs a value."
                if [ "$1" = --from ]; then FROM=${2%/}; else WORK=${2%/}; fi
                shift 2
                ;;
            --no-checksum) CHECKSUM=no && shift ;;
            -h | --help) usage && exit 0 ;;
            -*) die "there is no option $1 before DST. --help tells which there are." ;;
            *) break ;;
        esac
    done
    [ $# -gt 0 ] || die "DST, where the dataset is to go, is missing. --help tells more."
    DST=${1%/}
    WORK=${WORK:-$DST.work}
    shift
    OPTIONS=("$@")
    if ! command -v packer >/dev/null; then
        local here=$PWD
        cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit
        # shellcheck source=scripts/environment.sh
        . scripts/environment.sh
        cd "$here" || exit
    fi
}

# The interpreter beside packer: the scripts' helpers need nothing that it does not have.
packer_python() {
    local beside
    beside=$(dirname "$(command -v packer)")/python3
    if [ -x "$beside" ]; then echo "$beside"; else echo python3; fi
}

is_url() { [[ $1 == *://* ]]; }

md5_of() {
    if command -v md5sum >/dev/null; then md5sum <"$1" | cut -d ' ' -f 1; else md5 -q "$1"; fi
}

# fetch NAME MD5 [URL]: set FILE to the path of the publisher's file NAME. It is looked for in FROM,
# else downloaded from there or from URL; a download has its name only once its checksum is right.
fetch() {
    local name=$1 sum=$2 url=${3:-}
    if [ -n "$FROM" ] && ! is_url "$FROM"; then
        [ ! -f "$FROM" ] || FROM=$(dirname "$FROM")
        [ -e "$FROM/$name" ] || die "$FROM has no $name. Put it there, or give another --from."
        FILE=$(cd "$FROM" && pwd)/$name
        return
    fi
    [ -z "$FROM" ] || url=$FROM/$name
    [ -n "$url" ] || die "$name cannot be downloaded without an account: say with --from where it is."
    mkdir -p "$WORK"
    FILE=$(cd "$WORK" && pwd)/$name
    [ ! -e "$FILE" ] || return 0
    echo "Downloading $url"
    if ! curl --fail --location --retry 5 --continue-at - --output "$FILE.part" "$url" &&
        [ "$(md5_of "$FILE.part" 2>/dev/null)" != "$sum" ]; then
        die "$url was not downloaded to its end. Run the same command again to go on."
    fi
    if [ "$CHECKSUM" = yes ] && [ "$(md5_of "$FILE.part")" != "$sum" ]; then
        rm "$FILE.part"
        die "$url is not what its publisher published: its MD5 sum is not $sum." \
            "Run the same command again to download it anew, or give --no-checksum."
    fi
    mv "$FILE.part" "$FILE"
}

# link TARGET NAME: make NAME a link to TARGET, also if it is one to something else.
link() { ln -sfn "$1" "$2"; }

# pack_and_verify SRC: pack SRC into DST and prove the result.
pack_and_verify() {
    packer pack "$1" "$DST" ${OPTIONS[@]+"${OPTIONS[@]}"}
    packer verify "$DST"
}
