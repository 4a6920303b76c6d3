# shellcheck shell=bash
# Sourced by the other scripts: makes the environment .venv in the checkout, once, and enters it.
# Needs Python 3.10 or newer with venv; PYTHON names another interpreter than python3.

# patiently DOING COMMAND...: says what it does, and now and then that it still does it.
patiently() {
    local began=$SECONDS teller status=0 pause=30
    [ ! -t 1 ] || pause=3
    echo "$1 ..."
    while sleep "$pause" >/dev/null 2>&1 && kill -0 $$ 2>/dev/null; do
        echo "  ... $((SECONDS - began)) s"
    done &
    teller=$!
    "${@:2}" || status=$?
    kill "$teller"
    wait "$teller" 2>/dev/null || true
    return "$status"
}

if [ ! -e .venv/complete ] ||
    [ -n "$(find pyproject.toml scripts/supply/constraints.txt scripts/supply/*.lock -newer .venv/complete)" ]; then
    patiently "Making .venv (once; later runs skip this)" "${PYTHON:-python3}" -m venv .venv
    pip_install() {
        patiently "Installing $1" .venv/bin/python -m pip install --quiet \
            --disable-pip-version-check "${@:2}"
    }
    # The package index has torch for Linux with CUDA alone: gigabytes that are of no use without a GPU.
    torch_index=(--retries 1 --timeout 15)
    if [ "$(uname -s)" = Linux ] && ! command -v nvidia-smi >/dev/null; then
        torch_index+=(--extra-index-url https://download.pytorch.org/whl/cpu)
    fi
    case $(.venv/bin/python -c '
import platform, sys
print(sys.implementation.cache_tag, sys.platform, platform.machine())') in
    "cpython-311 linux x86_64")
        # All that CI runs, by hash: torch without CUDA, where an index has it, then the rest. What
        # is still missing belongs to a torch with CUDA.
        pip_install "torch without CUDA" "${torch_index[@]}" --require-hashes --no-deps \
            --requirement scripts/supply/torch-cpu.lock 2>.venv/torch-cpu.log || {
            echo "torch without CUDA is out of reach (.venv/torch-cpu.log has pip's words), so torch with CUDA is installed: .venv takes 5.5 GB in place of 2."
        }
        pip_install "what it needs" --require-hashes --no-deps --requirement scripts/supply/requirements.lock
        pip_install shardfeed --no-build-isolation --constraint scripts/supply/constraints.txt \
            --editable '.[test,docs]'
        ;;
    *)
        # torch alone first: where an index has a build without CUDA, it must not be looked past.
        pip_install torch "${torch_index[@]}" "$(grep '^torch==' scripts/supply/constraints.txt)"
        pip_install shardfeed --constraint scripts/supply/constraints.txt --editable '.[test,docs]'
        ;;
    esac
    touch .venv/complete
fi
export PATH="$PWD/.venv/bin:$PATH"

if ! command -v jpegtran >/dev/null && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    patiently "Installing jpegtran, which tests compare the tiler with (libjpeg-turbo-progs)" bash -c \
        "(apt-get update -qq && apt-get install -y -qq libjpeg-turbo-progs) >/dev/null" ||
        echo "That failed; these tests are skipped."
fi
