#!/usr/bin/env bash
# Checks the workflows here and the one for other repositories against the published schema of workflows and with zizmor, both from PyPI, in an environment of their own.
set -euo pipefail
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work"
"$work/bin/pip" install --quiet "check-jsonschema>=0.31" "zizmor==1.14.2"
"$work/bin/check-jsonschema" --builtin-schema vendor.github-workflows .github/workflows/*.yml packaging/github/*.yml
"$work/bin/zizmor" --offline --persona regular .github/workflows packaging/github/*.yml
