# make demo   a vehicle drives in the browser; where there is none, out/demo.html
# make test   the tests
# Both set up .venv when needed: a fresh clone and a Python are enough.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
OUT := out
TESTS ?=

.PHONY: help demo test soak bench clean

help:
	@echo "make demo    a vehicle drives in the browser; also writes $(OUT)/demo.html"
	@echo "make test    run the tests       (make test TESTS='-k carriage' runs some)"
	@echo "make soak    run the long tests"
	@echo "make bench   run the benchmarks"
	@echo "make clean   remove the environment and everything built"
	@echo "PYTHON=python3.12 picks the interpreter of the environment"

$(STAMP): setup.cfg setup.py pyproject.toml nhmech/version.py
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 10) else "nhmech needs Python 3.10 or newer, this is %s: make PYTHON=python3.12" % sys.version.split()[0])'
	@echo "setting up $(VENV), about a minute the first time"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV) || \
	  { rm -rf $(VENV); echo "python3 -m venv failed; on Debian and Ubuntu: apt install python3-venv" >&2; exit 1; }
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[test]'
	@touch $@

demo: $(STAMP)
	@mkdir -p $(OUT)
	$(BIN)/nhmech run differential_drive --duration 12 --view --html $(OUT)/demo.html

test: $(STAMP)
	$(BIN)/python -m pytest $(TESTS)

soak: $(STAMP)
	$(BIN)/python -m pytest -m soak $(TESTS)

bench: $(STAMP)
	@for file in benchmarks/*.py; do \
	  test -e "$$file" || { echo "no benchmarks yet"; break; }; \
	  echo "== $$file"; $(BIN)/python "$$file" || exit 1; \
	done

clean:
	rm -rf $(VENV) $(OUT) build dist nhmech.egg-info .pytest_cache
	find nhmech tests launch -name __pycache__ -type d -prune -exec rm -rf {} +
