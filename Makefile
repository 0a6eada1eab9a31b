# make demo   a vehicle drives in the browser; where there is none, out/demo.html
# make test   ruff, mypy and the tests
# make bench  the benchmarks
# make docs   the documentation, in out/docs
# make pictures   all pictures of the README and the documentation
# They set up what they need when needed: a fresh clone and a Python are enough.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# a robot to look at needs the package alone; everything else, tools of a hundred megabytes too
PLAIN := $(VENV)/.installed
STAMP := $(VENV)/.equipped
OUT := out
BENCH := .venv-bench
BENCHMARKS ?= $(wildcard benchmarks/*.py)
TESTS ?=
# half as many processes again as there are cores: some tests wait for a browser, a node or a child
CORES = import os; print(3 * len(getattr(os, "sched_getaffinity", lambda _: range(os.cpu_count()))(0)) // 2)
WORKERS ?= $(shell $(PYTHON) -c '$(CORES)')
PICTURES ?=

.PHONY: help demo lint test check soak coverage mutants bench docs pictures clean

help:
	@echo "make demo    a vehicle drives in the browser; also writes $(OUT)/demo.html"
	@echo "make test    lint, and run the tests, in some more processes than there are cores"
	@echo "             (make test TESTS='-k carriage' runs some, WORKERS=0 in one process)"
	@echo "make lint    ruff and mypy alone"
	@echo "make soak    run the long tests"
	@echo "make coverage   run the tests and show which lines and branches they do not reach"
	@echo "make mutants    change the core in many small ways and show which of them no test notices"
	@echo "make bench   run the benchmarks, beside other simulators; one table of all that they measure"
	@echo "             (make bench BENCHMARKS=benchmarks/scaling.py runs one)"
	@echo "make docs    build the documentation into $(OUT)/docs"
	@echo "make pictures   make all pictures of the README and the documentation anew: minutes, and Chromium"
	@echo "             (make pictures PICTURES='demo howto' makes some)"
	@echo "make clean   remove the environment and everything built"
	@echo "PYTHON=python3.12 picks the interpreter of the environment"

$(PLAIN): setup.cfg setup.py pyproject.toml nhmech/version.py
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 10) else "nhmech needs Python 3.10 or newer, this is %s: make PYTHON=python3.12" % sys.version.split()[0])'
	@echo "setting up $(VENV), a minute or two the first time"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV) || \
	  { rm -rf $(VENV); echo "python3 -m venv failed; on Debian and Ubuntu: apt install python3-venv" >&2; exit 1; }
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

$(STAMP): $(PLAIN)
	@echo "adding what the tests and the documentation need to $(VENV), some minutes the first time"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[test]'
	@touch $@

demo: $(PLAIN)
	@mkdir -p $(OUT)
	$(BIN)/nhmech run differential_drive --duration 12 --view --html $(OUT)/demo.html

lint: $(STAMP)
	$(BIN)/ruff check nhmech tests docs benchmarks examples
	$(BIN)/mypy

# `worksteal` hands each process a stretch of neighbouring tests, so that a vehicle or a page that several of them need
# is made once, and lets one that is done take over from the others.
PARALLEL = -n $(WORKERS) --dist worksteal

# lint runs beside the tests: it has one process, and some tests wait
test: $(STAMP)
	@$(MAKE) --no-print-directory -j2 lint check

check: $(STAMP)
	$(BIN)/python -m pytest $(PARALLEL) $(TESTS)

soak: $(STAMP)
	$(BIN)/python -m pytest $(PARALLEL) -m soak $(TESTS)

# MUTANTS='-n 10 vehicle mechanics/frame' makes fewer changes, of a room and of a module
mutants: $(STAMP)
	$(BIN)/python tests/mutants.py $(MUTANTS)

coverage: $(STAMP)
	$(BIN)/python -m pytest $(PARALLEL) --cov --cov-report=term-missing:skip-covered $(TESTS)

# Peers live in an environment of their own; one that cannot be installed is left out of the tables.
$(BENCH)/.installed: benchmarks/requirements.txt setup.cfg setup.py pyproject.toml
	@test -x $(BENCH)/bin/python || $(PYTHON) -m venv $(BENCH)
	$(BENCH)/bin/python -m pip install --quiet --disable-pip-version-check --editable .
	@grep -v '^#' benchmarks/requirements.txt | while read package; do \
	  $(BENCH)/bin/python -m pip install --quiet --disable-pip-version-check "$$package" || echo "$$package cannot be installed here: left out"; \
	done
	@touch $@

bench: $(BENCH)/.installed
	@$(BENCH)/bin/python benchmarks/common/summary.py --out $(OUT)/bench $(BENCHMARKS)

docs: $(STAMP)
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs $(OUT)/docs
	@echo "open $(OUT)/docs/index.html"

pictures: $(STAMP)
	$(BIN)/python docs/pictures.py $(PICTURES)

clean:
	rm -rf $(VENV) $(BENCH) $(OUT) docs/output build dist nhmech.egg-info .pytest_cache .mypy_cache .ruff_cache .coverage*
	find nhmech tests launch -name __pycache__ -type d -prune -exec rm -rf {} +
