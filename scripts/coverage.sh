#!/usr/bin/env bash
# The share of packer and reader that the tests run, lines and branches, with those of the processes
# that they start and do not kill; less than the floor in pyproject.toml is an error. All tests run, on
# all cores; slower than test.sh. Arguments go to pytest instead: of a part of the tests the figure is
# told, without the floor.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/environment.sh

rm -rf build/coverage
mkdir -p build/coverage
on_all_cores=(--numprocesses=logical --dist=worksteal)
python -m coverage run -m pytest "${@:-${on_all_cores[@]}}"
python -m coverage combine --quiet
python -m coverage report ${1:+--fail-under=0}
