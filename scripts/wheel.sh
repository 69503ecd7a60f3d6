#!/usr/bin/env bash
# Builds the wheel and the sdist, installs the wheel into a fresh virtual environment, and runs tests/wheel there.
# Needs Python 3.10 or later with venv. `scripts/wheel.sh dev` builds without optimisation, for a quick look.
set -euo pipefail
cd "$(dirname "$0")/.."
profile=${1:-dist}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/build"
"$work/build/bin/pip" install --quiet "maturin>=1.7,<2"
"$work/build/bin/maturin" build --profile "$profile" --out "$work/dist" > "$work/build.txt" 2>&1 || { cat "$work/build.txt"; exit 1; }
"$work/build/bin/maturin" sdist --out "$work/dist" > "$work/sdist.txt" 2>&1 || { cat "$work/sdist.txt"; exit 1; }
python3 -m venv "$work/user"
wheel=$(ls "$work"/dist/*.whl)
"$work/user/bin/pip" install --quiet "$wheel[mcp]" pytest
cp "$wheel" "$work"/dist/*.tar.gz "${WHEEL_OUT:-$work}" 2>/dev/null || true
"$work/user/bin/pytest" --quiet tests/wheel
