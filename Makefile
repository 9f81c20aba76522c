# make demo   the main job on real data, set-up included
# make test   every check and test, set-up included

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
CSIM_DATA ?= $(firstword $(wildcard data ../shared/data))
export CSIM_DATA

.PHONY: demo test install clean

demo: install
	$(BIN)/csim demo

test: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/pytest --ignore=tests/speed/test_speed_bars.py --numprocesses=auto --dist=loadfile --no-loadscope-reorder
	$(BIN)/pytest tests/speed/test_speed_bars.py

install: $(VENV)/installed

$(VENV)/installed: pyproject.toml
	$(PYTHON) -c 'import sys; assert sys.version_info >= (3, 11), "csim needs Python 3.11 or newer"'
	$(PYTHON) -c 'import ensurepip' 2>/dev/null || \
	  { [ "$$(id -u)" = 0 ] && apt-get update -qq && apt-get install -y -qq python3-venv; } || \
	  { echo "python3-venv is missing; install it: apt-get install python3-venv" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable '.[all,dev]'
	touch $@

clean:
	rm -rf $(VENV)
