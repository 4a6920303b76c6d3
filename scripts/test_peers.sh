#!/usr/bin/env bash
# The tests that need what other people train with, in an environment of their own, .venv-peers, as
# these are large. Arguments go to pytest. Streaming and DALI (a GPU's driver, or another numpy) and
# FFCV (a compiler, OpenCV) are left out: install them into .venv-peers and their tests run as well.
set -euo pipefail
cd "$(dirname "$0")/.."

if [ ! -e .venv-peers/complete ] || [ pyproject.toml -nt .venv-peers/complete ]; then
    echo "Installing into .venv-peers (once; later runs skip this) ..."
    "${PYTHON:-python3}" -m venv .venv-peers
    .venv-peers/bin/python -m pip install --quiet --disable-pip-version-check \
        "$(grep '^torch==' scripts/constraints.txt)"
    .venv-peers/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[test,peers]'
    touch .venv-peers/complete
fi
if ! .venv-peers/bin/python -c "import torchvision" 2>/dev/null; then
    # With one that was built for another torch, not even Lightning can be imported.
    echo "This torchvision does not fit this torch: its tests are skipped."
    .venv-peers/bin/python -m pip uninstall --quiet --yes torchvision
fi

.venv-peers/bin/python -m pytest -rs tests/reader/test_trainers.py tests/reader/test_coming_from.py \
    tests/reader/test_fields.py "$@"
