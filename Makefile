# make demo: install if needed, then train a translator and look at its attention.
# make test: install if needed, then run every test.   make check: format, lint, types.
PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.installed

.PHONY: install demo test check tutorial docs bench clean
.DEFAULT_GOAL := install

install: $(STAMP)

$(STAMP): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "regard needs Python 3.11 or newer; set PYTHON=... to one" >&2; exit 1; }
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[dev]"
	@touch $@

demo: $(STAMP)
	$(BIN)/regard demo

test: $(STAMP)
	$(BIN)/python -m pytest --numprocesses 2

check: $(STAMP)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/mkdocs build --strict --quiet --site-dir site

tutorial: $(STAMP)
	$(BIN)/python examples/tutorial.py

docs: $(STAMP)
	$(BIN)/mkdocs build --strict

bench: $(STAMP)
	$(BIN)/python -m benchmarks.training
	$(BIN)/python -m benchmarks.search

clean:
	rm -rf .venv site dist .mypy_cache .ruff_cache .hypothesis
