# make demo    run csim on real data
# make check   lint, types, imports and the quick tests: about three minutes on two cores
# make test    the same checks and every test: under 15 minutes on two cores
# make axe     fetch axe-core from npm, which the tests of the labelling page need
# make clean   remove the virtual environment
#
# Each target but `axe` and `clean` first installs what it needs into .venv.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
CSIM_DATA ?= $(firstword $(wildcard data ../shared/data))
export CSIM_DATA

# A file's tests share expensive fixtures, so a file stays in one process; long files start first.
PYTEST := $(BIN)/pytest --numprocesses=auto --dist=loadfile --no-loadscope-reorder

# What the tests start, as COMMAND:PACKAGE of Debian.
SYSTEM := redis-server:redis-server ip:iproute2 openssl:openssl chromium:chromium npm:npm

# axe-core checks the labelling page in tests. It stays outside the repository.
CSIM_AXE ?= $(HOME)/.cache/csim/axe
export CSIM_AXE

.PHONY: demo check test lint install system-packages axe clean

demo: install
	$(BIN)/csim demo

check: lint system-packages
	$(PYTEST) -m "not slow and not data"

test: lint system-packages axe
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

# Install what is missing, or say so; the tests that need it then fail.
system-packages:
	@for pair in $(SYSTEM); do \
	  command -v $${pair%%:*} >/dev/null || missing="$$missing $${pair##*:}"; \
	done; \
	[ -z "$$missing" ] || { [ "$$(id -u)" = 0 ] && apt-get update -qq && \
	  apt-get install -y -qq --no-install-recommends $$missing; } || \
	  { echo "the tests need: apt-get install$$missing" >&2; [ "$$CI" != true ]; }

axe: system-packages $(CSIM_AXE)/node_modules/axe-core/axe.min.js

$(CSIM_AXE)/node_modules/axe-core/axe.min.js:
	@! command -v npm >/dev/null || npm install --silent --no-fund --prefix $(CSIM_AXE) axe-core@4

clean:
	rm -rf $(VENV)
