# Two commands do everything: `make demo` and `make test`. Both set up a virtual environment first.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: demo test check format bench agents clean

demo: $(READY)
	$(BIN)/tokenmizer-mw demo $(DEMO)

test: $(READY)
	$(BIN)/python -m pytest $(TESTS)

check: $(READY)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

format: $(READY)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(READY)
	$(BIN)/python -m benchmarks $(BENCH)
	$(BIN)/python -m benchmarks.table

$(READY): pyproject.toml $(wildcard integrations/*/pyproject.toml)
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "Python 3.11 or newer is needed: make PYTHON=/path/to/python3.11")'
	@echo "Setting up $(VENV): this takes a few minutes, once."
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[test]" $(foreach one,$(wildcard integrations/*/pyproject.toml),-e $(dir $(one)))
	@touch $(READY)

# The coding agents that some tests drive, and what looks at pages, where Node.js is at hand: PATH="$$PWD/.agents/node_modules/.bin:$$PATH" make test
agents:
	npm install --silent --no-save --no-audit --no-fund --prefix .agents @anthropic-ai/claude-code@2.1.197 @openai/codex@0.169.0
	npm install --silent --no-save --no-audit --no-fund --prefix .agents/mcp @modelcontextprotocol/inspector@0.15.0 @modelcontextprotocol/conformance@0.1.16 node@24
	npm install --silent --no-save --no-audit --no-fund --prefix .agents/browser axe-core@4.14.1 mermaid@11.17.2

clean:
	rm -rf .agents $(VENV) dist build .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
