# Everything a target needs it installs by itself into .venv: only Python >= 3.11 and make must be there.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PEERS := smpybandits mabwiser pymab
unexport PYTHONDONTWRITEBYTECODE  # the tests start hundreds of processes, and each would read all sources again

.PHONY: help test test-slow lint format docs bench studies reproduce wheel-check clean

help: ## show this help
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | awk -F':.*## ' '{printf "make %-12s %s\n", $$1, $$2}'

$(VENV)/.ready: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "vambrace needs Python 3.11 or newer, got " + sys.version)'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	@touch $@

# Tests of servers and browsers wait, so there are two workers per core. A file stays together: it shares what it makes.
IN_PARALLEL = -n $$($(BIN)/python -c 'import os; print(2 * os.cpu_count())') --dist loadfile --no-loadscope-reorder

# The workers use all cores. Threads of NumPy, of which each of hundreds of processes starts some, would only wait.
test test-slow: export OPENBLAS_NUM_THREADS = 1

test: $(VENV)/.ready ## run the test suite (a few minutes)
	$(BIN)/python -m pytest $(IN_PARALLEL) -m 'not slow'

test-slow: $(VENV)/.ready ## run the long statistical tests as well
	VAMBRACE_TESTS=thorough $(BIN)/python -m pytest $(IN_PARALLEL)

lint: $(VENV)/.ready ## ruff, mypy --strict and import-linter
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(VENV)/.ready ## let ruff put the code in order
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(VENV)/.ready ## build the documentation into site/ and check it; open site/index.html
	$(BIN)/python studies/reference.py
	$(BIN)/zensical build --clean --strict
	$(BIN)/python -m pytest -n 2 --dist loadfile tests/docs/test_site.py tests/docs/test_pages.py tests/docs/test_rates.py tests/docs/test_radii.py

bench: $(VENV)/.ready $(PEERS:%=build/peers/%/.ready) ## speed as ratios, side by side with the peers, into docs/
	$(BIN)/python benchmarks/run.py --peers build/peers --markdown build/bench.md
	$(BIN)/python benchmarks/leap.py --figure docs/images/leap.svg --markdown build/leap.md
	$(BIN)/python benchmarks/lab.py --markdown build/lab.md
	$(BIN)/python studies/speed.py build

build/peers/%/.ready: benchmarks/peers/requirements-%.txt
	$(PYTHON) -m venv $(@D)
	$(@D)/bin/python -m pip install --quiet -r $<
	@touch $@

HEADLINES ?= ../shared/data/upworthy.csv

studies: $(VENV)/.ready build/peers/smpybandits/.ready build/peers/pymab/.ready ## measure choices, rates, radii, delays, certificates and the leaderboard again, and write their pages in docs/
	$(BIN)/python studies/choosing.py
	$(BIN)/python studies/price.py
	$(BIN)/python studies/rivals.py
	$(BIN)/python studies/rates.py
	$(BIN)/python studies/truth.py
	$(BIN)/python studies/guarantees.py
	$(BIN)/python studies/radii.py --headlines $(HEADLINES)
	$(BIN)/python studies/certify.py --headlines $(HEADLINES)
	$(BIN)/python studies/delays.py
	$(BIN)/python studies/publishing.py
	$(BIN)/python studies/board.py
	$(BIN)/python studies/readme.py

reproduce: $(VENV)/.ready ## everything the paper claims, measured: the report is out/reproduce/report.html
	$(BIN)/vambrace reproduce --out out/reproduce $(if $(wildcard $(HEADLINES)),--data headlines=$(HEADLINES))

wheel-check: $(VENV)/.ready ## build a wheel, install it in an empty venv and run it there
	rm -rf build/wheel && $(BIN)/python -m build --quiet --wheel --outdir build/wheel .
	$(PYTHON) -m venv --clear build/wheel/venv
	build/wheel/venv/bin/python -m pip install --quiet build/wheel/vambrace-*.whl
	cd build/wheel && venv/bin/vambrace --help

clean: ## remove everything that can be made again
	rm -rf $(VENV) .cache build dist out site
