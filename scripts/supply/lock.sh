#!/usr/bin/env bash
# Makes the lock files anew: requirements.lock, all that CI installs, with versions and hashes;
# torch-cpu.lock, the build of torch that is taken instead where an index has it; supply.lock, what
# check.sh runs with. To be run when the dependencies in pyproject.toml or constraints.txt change,
# on Linux x86-64, with CPython 3.11 and where pip finds a build of torch without CUDA.
set -euo pipefail
cd "$(dirname "$0")/../.."

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"${PYTHON:-python3}" -m venv "$work/tools"
pip=("$work/tools/bin/python" -m pip --quiet --disable-pip-version-check)
"${pip[@]}" install uv==0.13.9
version=$(grep '^torch==' scripts/supply/constraints.txt)
"${pip[@]}" download --no-deps --dest "$work/torch" "$version"
wheel=$(echo "$work"/torch/*.whl)
case $wheel in
*+cpu-cp311-*linux*x86_64.whl) ;;
*) echo "pip finds $(basename "$wheel"), not a build without CUDA for CPython 3.11." >&2 && exit 1 ;;
esac

compile() {
    "$work/tools/bin/uv" pip compile --quiet --generate-hashes --no-annotate --no-header \
        --python-version 3.11 --python-platform x86_64-manylinux_2_28 "$@"
}

made="# Made by scripts/supply/lock.sh; for Linux x86-64 and CPython 3.11."
{
    echo "$made"
    compile pyproject.toml --extra test --extra docs --constraint scripts/supply/constraints.txt \
        --find-links "$work/torch" --no-emit-package torch
    echo "$version" | compile --no-deps -
} >"$work/requirements.lock"
{
    echo "$made"
    echo "$version+cpu \\"
    echo "    --hash=sha256:$(sha256sum "$wheel" | cut -d' ' -f1)"
} >"$work/torch-cpu.lock"
{
    echo "$made"
    printf 'cyclonedx-bom\npip-audit\npip-licenses\n' | compile -
} >"$work/supply.lock"
mv "$work"/*.lock scripts/supply/
