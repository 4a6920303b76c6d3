#!/usr/bin/env bash
# The tests that need what other people train with, in an environment of their own, .venv-peers, as
# these are large (7 GB), and MosaicML Streaming wants an older numpy than constraints.txt names.
# Arguments go to pytest.
set -euo pipefail
cd "$(dirname "$0")/.."

pip_install() {
    .venv-peers/bin/python -m pip install --quiet --disable-pip-version-check "$@"
}

if [ ! -e .venv-peers/complete ] || [ pyproject.toml -nt .venv-peers/complete ]; then
    echo "Installing into .venv-peers (once; later runs skip this) ..."
    "${PYTHON:-python3}" -m venv .venv-peers
    # In one go, lest torchvision bring another torch. "===": torchvision's build on PyPI fits the
    # torch of PyPI alone, not the "+cpu" that "==" prefers where an index has it.
    pip_install "$(sed -n 's/^torch==/torch===/p' scripts/supply/constraints.txt)" --editable '.[test,peers]'
    touch .venv-peers/complete
fi
if ! .venv-peers/bin/python -c "import torchvision" 2>/dev/null; then
    # With one that was built for another torch, not even Lightning can be imported.
    echo "This torchvision does not fit this torch: its tests and Streaming's are skipped."
    .venv-peers/bin/python -m pip uninstall --quiet --yes torchvision
fi

can_build_ffcv() {
    command -v c++ >/dev/null && pkg-config --exists opencv4 libturbojpeg 2>/dev/null
}
if ! .venv-peers/bin/python -m pip show --quiet ffcv 2>/dev/null; then
    if ! can_build_ffcv && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        echo "Installing what FFCV is built with (OpenCV's and TurboJPEG's headers) ..."
        (apt-get update -qq && apt-get install -y -qq --no-install-recommends \
            g++ libopencv-dev libturbojpeg0-dev pkg-config) >/dev/null || true
    fi
    if can_build_ffcv; then
        # Alone: .[peers] has what it imports, and opencv-python, which it asks for, would replace
        # files of opencv-python-headless.
        pip_install --no-deps ffcv==1.0.2
    else
        echo "FFCV is not installed: its test is skipped. It needs a C++ compiler, pkg-config, and" \
            "the headers of OpenCV and TurboJPEG (Debian, Ubuntu: libopencv-dev, libturbojpeg0-dev)."
    fi
fi

.venv-peers/bin/python -m pytest -rs tests/packer/peers tests/reader/peers tests/reader/fields/test_members.py "$@"
