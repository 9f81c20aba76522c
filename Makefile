# make demo    run csim on real data
# make check   lint, types, imports and the quick tests: under two minutes on two cores
# make test    the same checks and every test: under 15 minutes on two cores
# make clean   remove the virtual environment
#
# Each target but `clean` first installs what it needs into .venv.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
CSIM_DATA ?= $(firstword $(wildcard data ../shared/data))
export CSIM_DATA

# A file's tests share expensive fixtures, so a file stays in one process; long files start first.
PYTEST := $(BIN)/pytest --numprocesses=auto --dist=loadfile --no-loadscope-reorder

.PHONY: demo check test lint install clean

demo: install
	$(BIN)/csim demo

check: lint
	$(PYTEST) -m "not slow and not data"

test: lint
	$(PYTEST)

lint: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

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
