#!/usr/bin/env bash
# The tests, after the linters and the type checker. Arguments go to pytest.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/environment.sh

ruff check .
ruff format --check .
mypy
python -m pytest "$@"
