# `make demo` and `make test` do all the set-up they need: both create .venv on first use and reuse it afterwards.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed

.DEFAULT_GOAL := help
.PHONY: help install demo test test-slow lint bench docs dist clean

help: ## Show what can be made
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 20

$(STAMP): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Python 3.11 or newer is needed; name it with: make PYTHON=/path/to/python"; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade 'pip>=24'
	$(BIN)/python -m pip install --constraint constraints.txt --editable '.[lmms,inspect,lm-eval,build,report,dev]'
	@touch $@

install: $(STAMP) ## Create .venv with the package, the host and the developers' tools

demo: $(STAMP) ## Evaluate baselines and a small checkpoint on the mini set through the real host and show the tables
	PYTHONPATH=utils $(BIN)/python -m georefusal_demo

test: $(STAMP) lint ## Lint, types, import rules and the quick tests
	$(BIN)/python -m pytest -m 'not slow and not host'
	@$(BIN)/python -m pytest --collect-only -q -m 'slow or host' 2>/dev/null | tail -1 | \
	  sed 's/^/left out here, run by make test-slow (real host, long runs): /'

test-slow: $(STAMP) ## The tests through the real host, and the long ones
	$(BIN)/python -m pytest -m 'slow or host'

lint: $(STAMP)
	$(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/mypy && $(BIN)/lint-imports --no-logo && $(BIN)/deptry .

bench: $(STAMP) ## Time the parts against named references
	PYTHONPATH=tests:utils $(BIN)/python -m bench

docs: $(STAMP) ## Write the generated tables of the docs anew
	PYTHONPATH=utils $(BIN)/python utils/docs_tables.py
	$(BIN)/georefusal build catalogue --docs docs/levers

dist: $(STAMP) ## Build the wheel and the source distribution into dist/
	$(BIN)/python -m build

clean: ## Remove .venv and everything built
	rm -rf $(VENV) build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .import_linter_cache results
