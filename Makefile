# Everything a fresh machine with Python 3.11+, git and make needs. The second time is quick.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
RUNTIME := $(VENV)/.runtime
DEV := $(VENV)/.dev
SPARK := $(VENV)/.spark
INSTALL := PIP_ROOT_USER_ACTION=ignore $(BIN)/pip install --quiet --disable-pip-version-check
SUFFIXES := crawlers/algorithms/urls/public_suffix_list.dat
SUFFIXES_URL := https://publicsuffix.org/list/public_suffix_list.dat
export PYTHONDONTWRITEBYTECODE :=  # some containers set it, and each of a hundred processes would compile the program

.PHONY: demo test spark check docs texts suffixes screenshots bench mutants clean help

help:
	@echo "make demo    set up, and crawl a small web of our own"
	@echo "make test    set up, and run all tests"
	@echo "make spark   install Spark, for spark/ and its test"
	@echo "make check   ruff, mypy, import-linter, and a strict build of the documentation"
	@echo "make docs    set up, and build the documentation as a site in build/site"
	@echo "make screenshots  save the pages of the panel of the demo as pictures in build/screenshots"
	@echo "make texts   bring the files of the panel's translations up to date, and say what is missing"
	@echo "make suffixes bring the Public Suffix List of the project up to date, from publicsuffix.org"
	@echo "make bench   measure speed, memory, exports, kills (some minutes)"
	@echo "make mutants put small faults into the code, and count those that the tests find (10 minutes)"
	@echo "make clean   remove what the other targets made"

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "Python 3.11 or later is needed: make PYTHON=python3.12")'
	@echo "Making a virtual environment in $(VENV)"
	@$(PYTHON) -m venv $(VENV)

$(RUNTIME): requirements.txt | $(BIN)/python
	@echo "Installing $$(grep -c '==' requirements.txt) packages into $(VENV); this takes a minute or two"
	@$(INSTALL) -r requirements.txt
	@touch $@

$(SPARK): requirements-spark.txt | $(BIN)/python
	@echo "Installing Spark into $(VENV); this downloads 450 MB"
	@$(INSTALL) -r requirements-spark.txt
	@touch $@

$(DEV): requirements-dev.txt requirements.txt | $(BIN)/python
	@echo "Installing the packages for tests and documentation into $(VENV); this takes a few minutes"
	@$(INSTALL) -r requirements-dev.txt
	@touch $@ $(RUNTIME)

demo: $(RUNTIME)
	@$(BIN)/python -m crawlers.demo demo

test: $(DEV)
	$(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder

spark: $(SPARK)

check: $(DEV)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

docs: $(DEV)
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict
	@echo "Open build/site/index.html in a browser; to search it as well: python3 -m http.server -d build/site"

texts: $(RUNTIME)
	$(BIN)/python -m crawlers.web.texts

suffixes:
	@$(PYTHON) -c 'from urllib.request import urlretrieve; urlretrieve("$(SUFFIXES_URL)", "$(SUFFIXES).new")'
	@grep -q "===END PRIVATE DOMAINS===" $(SUFFIXES).new && grep "^// VERSION:" $(SUFFIXES).new
	@mv $(SUFFIXES).new $(SUFFIXES)

screenshots: $(DEV)
	@test -d demo || $(BIN)/python -m crawlers.demo demo
	@$(BIN)/python -m docs.screenshots demo build/screenshots

bench: $(DEV)
	$(BIN)/python -m bench

mutants: $(DEV)
	$(BIN)/python -m bench.quality.mutants

clean:
	rm -rf $(VENV) demo bench-out build *.egg-info
