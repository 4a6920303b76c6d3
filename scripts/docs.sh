#!/usr/bin/env bash
# Builds the pages under docs/, with the references made from the code, into docs/_build; a warning
# is an error. --serve: then shows them at http://localhost:8000 (PORT chooses another port).
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/environment.sh

serve=
case "${1-}" in
--serve) serve=yes ;;
"") ;;
*) echo "docs.sh [--serve]" >&2 && exit 2 ;;
esac

python -m sphinx --builder html --fail-on-warning --keep-going --fresh-env --quiet docs docs/_build
echo "docs/_build/index.html"
if [ -n "$serve" ]; then
    python -m http.server --bind 127.0.0.1 --directory docs/_build "${PORT:-8000}"
fi
