#!/usr/bin/env bash
# The tests, after the linters, the type checker and the pages. Arguments go to pytest.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/environment.sh

ruff check .
ruff format --check .
mypy
./scripts/docs.sh
python -m pytest "$@"
