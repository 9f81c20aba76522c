#!/bin/sh
# Compares our ECSMiner with StreamNDR's on scikit-learn's digits: the same warm-up, stream, K, q, delay and ensemble.
# StreamNDR is installed into an environment of its own, without its optional part that needs Boost headers; csim never
# depends on it. Needs csim's own Python as $1 (default: python).
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
