#!/usr/bin/env bash
# The linters, the type checker and the pages; then the tests on all cores, but for the slowest, and
# with few examples of what Hypothesis makes. --all: all of them, as before a release. Other
# arguments go to pytest, which runs as it is then: in one process, whatever tests they name.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/environment.sh
unset PYTHONDONTWRITEBYTECODE # each of the many processes that the tests start would compile anew

on_all_cores=(--numprocesses=logical --dist=worksteal)
case "${1-}" in
"") set -- "${on_all_cores[@]}" -m "not slow" --hypothesis-profile=few ;;
--all) set -- "${on_all_cores[@]}" "${@:2}" ;;
esac

ruff check .
ruff format --check .
./scripts/docs.sh & # beside the types, which take longer
pages=$! types=0
MYPY_NUM_WORKERS=auto mypy || types=$?
wait "$pages"
[ "$types" = 0 ]
python -m pytest "$@"
