#!/usr/bin/env bash
# The supply chain of .venv: writes build/sbom.json (CycloneDX), lists the licences, and looks for
# known vulnerabilities of what requirements.lock pins. Exit codes: 0 nothing found; 1 a known
# vulnerability, or a licence to be looked at. Where no database of vulnerabilities can be reached,
# that is said and counts as nothing found.
set -euo pipefail
cd "$(dirname "$0")/../.."
. scripts/environment.sh

tools=build/supply
if [ ! -e "$tools/complete" ] || [ scripts/supply/supply.lock -nt "$tools/complete" ]; then
    echo "Installing into $tools (once; later runs skip this) ..."
    "${PYTHON:-python3}" -m venv "$tools"
    "$tools/bin/python" -m pip install --quiet --disable-pip-version-check \
        --require-hashes --no-deps --requirement scripts/supply/supply.lock
    touch "$tools/complete"
fi

"$tools/bin/cyclonedx-py" environment .venv/bin/python --pyproject pyproject.toml \
    --output-reproducible --output-format JSON --output-file build/sbom.json
echo "build/sbom.json lists what is installed in .venv."

code=0
"$tools/bin/pip-licenses" --python .venv/bin/python || code=1  # allowed: see pyproject.toml

rm -f build/audit.json
"$tools/bin/pip-audit" --disable-pip --require-hashes --requirement scripts/supply/requirements.lock \
    --progress-spinner off --format json --output build/audit.json >/dev/null 2>build/audit.txt || true
python scripts/supply/audit.py build/audit.json || code=1
exit "$code"
