# The two commands: `make quickstart` and `make test`. `make help` lists the rest.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt
TEST_JOBS ?= $(shell nproc)
# Each worker begins with tests that stand together, which share what was trained for them; who is done takes from others.
# A worker has one processor: where a test asks for no number of threads, a second one would wait for the other worker.
PYTEST = OMP_NUM_THREADS=1 $(BIN)/pytest
WORKERS = -n $(TEST_JOBS) --dist worksteal
CPP := $(wildcard native/*/*.[ch]pp native/*/*/*.[ch]pp)

.PHONY: help quickstart install install-test browser dev test test-slow test-cluster fuzz fuzz-sanitised docs results format lint types native-test \
  checks pytest debug-test clean

help: ## List the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

quickstart: install ## Install, build, and run the main job on embedded data
	$(BIN)/rankwright quickstart --out out/quickstart
	$(BIN)/rankwright quickstart --search --out out/search

# Build tools live in the environment, so that building again after a change takes seconds.
$(VENV)/.tools: constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(PIP) pip scikit-build-core nanobind cmake ninja
	@touch $@

install: $(VENV)/.tools ## Build the core and install the package into .venv, with what reports and searching need
	$(PIP) --no-build-isolation '.[report,search]'

# The extras first, from the metadata alone; the package itself is installed anew each time, from the build's cache.
$(VENV)/.test-extras: $(VENV)/.tools pyproject.toml constraints.txt
	$(PIP) --no-build-isolation '.[test,lint]'
	@touch $@

install-test: $(VENV)/.test-extras
	$(PIP) --no-build-isolation --no-deps --force-reinstall .

dev: $(VENV)/.test-extras ## Install for development: Python changes count at once, `make dev` again after C++ ones
	$(PIP) --no-build-isolation --no-deps --editable .

STEPS := install-test checks pytest debug-test

test: ## Everything that must hold, with the time of each step
	@times=""; for step in $(STEPS); do \
	  start=$$(date +%s); $(MAKE) --no-print-directory $$step || exit 1; \
	  times="$$times  $$step $$(($$(date +%s) - start)) s\n"; \
	done; printf "time of each step:\n$$times"

# None of them needs another, and types take one processor only.
checks: ## Check format, style and types, and run the native tests, side by side
	@$(MAKE) --no-print-directory --jobs=$(TEST_JOBS) --output-sync=target lint types native-test

# Reports are pages: their tests open them in Chromium, and are skipped where there is none. Needs root.
browser: ## Install Chromium by apt, for the tests that drive reports
	@command -v chromium >/dev/null && echo "chromium is here: $$(chromium --version)" || \
	  { command -v apt-get >/dev/null || { echo "no apt-get here: install chromium as your system does"; exit 1; }; \
	    apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium fonts-liberation; }
	@echo "the tests that drive reports: $(BIN)/pytest tests/report/test_browser.py; the long ones alone: -m slow"

# What the site needs is installed by these targets alone, beside the package as it is: tests go without.
DOCS_EXTRA = import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["project"]["optional-dependencies"]["docs"])

$(VENV)/.docs-extras: $(VENV)/.test-extras
	$(PIP) $$($(BIN)/python -c '$(DOCS_EXTRA)')
	@touch $@

docs: $(VENV)/.docs-extras ## Write docs/settings.md and the pictures anew, and build the site in build/site; it opens from disk
	$(BIN)/python docs/settings_page.py
	$(BIN)/python docs/machinery/pictures.py
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

.PHONY: docs-check
docs-check: docs ## Open every page of the site in Chromium, narrow and wide, light and dark
	$(BIN)/pytest -q -m slow tests/site

# What docs/results.json lacks is computed first; RESULTS="--again NAME" computes an experiment anew.
results: $(VENV)/.test-extras ## Write docs/results.md, the papers' figures and the peers' beside ours
	$(BIN)/python docs/results_page.py $(RESULTS)

.PHONY: benchmarks
benchmarks: $(VENV)/.test-extras ## Run the short benchmarks; `make results` puts what they leave on docs/results.md
	$(BIN)/python -m benchmarks.short_runs $(BENCHMARKS)

format: $(VENV)/.test-extras ## Format the code
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix --quiet .
	$(BIN)/clang-format -i $(CPP)

# C++ sources that clang-tidy passed are not checked again, unless FORCE=1 says so.
lint: $(VENV)/.test-extras ## Check format and style
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/clang-format --dry-run --Werror $(CPP)
	native/lint.sh $(BIN)

types: $(VENV)/.test-extras ## Check types
	$(BIN)/mypy

# Sources that passed are not compiled and run again, not even in another checkout, unless FORCE=1 says so.
native-test: $(VENV)/.tools ## Run the native tests under the sanitizers
	native/tests/run.sh $(BIN)

pytest: ## Run the Python tests on the installed package
	$(PYTEST) $(WORKERS) -m "not slow" --durations=15

# Every kernel, and a run of each family; `make test-slow` runs all tests on the debug build.
DEBUG_TESTS ?= tests/kernels tests/ranking $(addprefix tests/trees/,bins/test_binning.py forests/test_forest.py test_grower.py) \
  $(addprefix tests/contracts/test_,kernels.py metrics.py nothing.py objectives.py)

# The debug build stands beside the installed package, and before it on the path. Tests on it fill memory with a pattern
# before kernels get it (tests/unwritten.py), and glibc does so with what kernels allocate themselves.
debug-test: $(VENV)/.test-extras ## Run the tests of kernels on a debug build with assertions
	$(PIP) --no-build-isolation --no-deps --force-reinstall --target build/debug-site --upgrade -C cmake.build-type=Debug .
	PYTHONPATH=build/debug-site RANKWRIGHT_EXPECT_KERNELS="compiled, with assertions" MALLOC_PERTURB_=1 \
	  $(PYTEST) $(WORKERS) -m "not slow" $(DEBUG_TESTS)

test-slow: install-test ## The long checks, and every test on the debug build
	$(PYTEST) $(WORKERS) -m slow
	$(MAKE) debug-test DEBUG_TESTS=tests

# Needs root: the hosts of its cluster are network namespaces.
test-cluster: install-test ## One forest on a Ray cluster of three hosts, one of which is killed
	$(BIN)/python -m tests.cluster.hosts

# Mutants are drawn by number, so a run that was ended goes on; FUZZ="--seed 1" draws others.
FUZZ ?= --mutants 20000

fuzz: install-test ## Judge mutants of models, checkpoints, studies and data; FUZZ has the options, out/fuzz the findings
	$(BIN)/python -m tests.fuzz.run $(FUZZ)

SANITISED := build/sanitised-site
PRELOADED = $(shell $(CXX) -print-file-name=libasan.so) $(shell $(CXX) -print-file-name=libstdc++.so.6)

fuzz-sanitised: install-test ## The same on a core with ASan and UBSan, which is far slower
	$(PIP) --no-build-isolation --no-deps --force-reinstall --target $(SANITISED) --upgrade \
	  -C build-dir=build/Sanitised -C cmake.define.RANKWRIGHT_SANITIZE=address,undefined -C install.strip=false .
	PYTHONPATH=$(SANITISED) LD_PRELOAD="$(PRELOADED)" ASAN_OPTIONS=detect_leaks=0,allocator_may_return_null=1 \
	  $(BIN)/python -m tests.fuzz.run --slower 20 --corpus out/fuzz-sanitised $(FUZZ)

clean: ## Remove what was built
	rm -rf build out $(VENV)
