#!/bin/sh
# Compares csim's ECSMiner with StreamNDR's on scikit-learn's digits: the same warm-up, stream, K, q,
# delay and ensemble. It installs StreamNDR into a temporary environment, without the optional part
# that needs Boost headers; csim does not depend on it. $1 is csim's Python (default: python).
#
#   sh results/streamndr/check.sh .venv/bin/python
set -eu
here=$(cd "$(dirname "$0")" && pwd)
python=${1:-python}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$python" "$here/ours.py" "$work"
"$python" -m venv "$work/environment"
"$work/environment/bin/pip" install --quiet --no-deps streamndr==0.2.0
"$work/environment/bin/pip" install --quiet river pandas scikit-learn
"$work/environment/bin/python" "$here/theirs.py" "$work"
"$python" "$here/compare.py" "$work" | tee "$here/check.md"
