VENV ?= .venv
# The first interpreter on the path that is new enough; `make PYTHON=...` overrides it.
PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11; do \
	"$$p" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo "$$p" && break; done)

PY := $(VENV)/bin/python
PIP := $(PY) -m pip --quiet --disable-pip-version-check
XDIST = $$($(PY) -c 'import xdist' 2>/dev/null && echo '-n 2')

# The steps are small and dense: threaded BLAS makes them slower.
OMP_NUM_THREADS ?= 1
OPENBLAS_NUM_THREADS ?= 1
export OMP_NUM_THREADS OPENBLAS_NUM_THREADS

.PHONY: demo test check campaign sweeps docs bench figures clean

demo: $(VENV)/.installed
	MPLBACKEND=Agg $(PY) examples/buck_converter.py

test: $(VENV)/.installed-dev
	$(PY) -m pytest -q $(XDIST) $(ARGS)

check: $(VENV)/.installed-dev
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m basedpyright --pythonpath $(PY)

# Random models against oracles; ARGS="--minutes 120 --log campaign.jsonl" is the long one.
campaign: $(VENV)/.installed-dev
	$(PY) benchmarks/campaign.py $(ARGS)

# Further seeds and sizes of what the suite tests a part of; ARGS names files.
sweeps: $(VENV)/.installed-dev
	$(PY) benchmarks/sweeps.py $(XDIST) $(ARGS)

# Writes the pages that come from docstrings, examples and figures.
docs: $(VENV)/.installed-dev
	$(PY) -m docs.generator

bench: $(VENV)/.installed-dev
	$(PY) benchmarks/run_all.py $(ARGS)

# Measures, and writes the figures into the readme, missed goals included.
figures: $(VENV)/.installed-dev
	$(PY) benchmarks/run_all.py --save; missed=$$?; $(PY) -m docs.generator && exit $$missed

clean:
	rm -rf $(VENV)

# The environment is kept and updated only when pyproject.toml or a kernel changes, which is compiled then.
$(VENV)/.installed: pyproject.toml $(wildcard acausal/kernels/*.py)
	@test -n "$(PYTHON)" || { echo 'acausal needs Python 3.11 or newer: install it, or run make PYTHON=/path/to/python'; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(PIP) install --editable .
	@touch $@

$(VENV)/.installed-dev: $(VENV)/.installed
	$(PIP) install --editable '.[dev]'
	@touch $@
