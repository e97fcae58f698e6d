# make demo: install if needed, then train a translator and look at its attention.
# make peers: install OpenNMT-py and JoeyNMT into .peers/, each on its own, for benchmarks.peers.
# make test: install if needed, then run every test.   make check: format, lint, types.
PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.installed
PEERS ?= .peers

.PHONY: install demo test check tutorial docs bench peers clean
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
	$(BIN)/python -m pytest --numprocesses 2 --dist worksteal

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

# OpenNMT-py wants a torch that was built for NumPy 1; JoeyNMT does not ask for all it imports.
peers: $(PEERS)/opennmt/.installed $(PEERS)/joeynmt/.installed

$(PEERS)/opennmt/.installed: WANTED := "OpenNMT-py==3.5.1" "numpy<2"
$(PEERS)/joeynmt/.installed: WANTED := "joeynmt==2.3.0" "torch<2.14" importlib_metadata
$(PEERS)/%/.installed:
	$(PYTHON) -m venv $(PEERS)/$*
	$(PEERS)/$*/bin/python -m pip install --quiet --disable-pip-version-check $(WANTED)
	@touch $@

clean:
	rm -rf .venv site dist .mypy_cache .ruff_cache .hypothesis
