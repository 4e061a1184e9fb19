# Everything a fresh machine with Python 3.11+, git and make needs. The second time is quick.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
RUNTIME := $(VENV)/.runtime
DEV := $(VENV)/.dev
SPARK := $(VENV)/.spark
INSTALL := PIP_ROOT_USER_ACTION=ignore $(BIN)/pip install --quiet --disable-pip-version-check
SUFFIXES := crawlers/urls/public_suffix_list.dat
SUFFIXES_URL := https://publicsuffix.org/list/public_suffix_list.dat
COMPILE := UV_CUSTOM_COMPILE_COMMAND='make pins' $(VENV)/pins/bin/uv pip compile --quiet --universal --python-version 3.11 \
	--generate-hashes --no-annotate
export PYTHONDONTWRITEBYTECODE :=  # some containers set it, and each of a hundred processes would compile the program

.PHONY: demo test missions spark check docs texts suffixes screenshots bench mutants pins images clean help

help:
	@echo "make demo    set up, and crawl a small web of our own"
	@echo "make test    set up, and run all tests"
	@echo "make missions run all other tests without each mission (an hour)"
	@echo "make spark   install Spark, for spark/ and its test"
	@echo "make check   ruff, mypy, import-linter, and a strict build of the documentation"
	@echo "make docs    set up, and build the documentation as a site in build/site"
	@echo "make screenshots  save the pages of the panel of the demo as pictures in build/screenshots"
	@echo "make texts   bring the files of the panel's translations up to date, and say what is missing"
	@echo "make suffixes bring the Public Suffix List of the project up to date, from publicsuffix.org"
	@echo "make bench   measure speed, memory, exports, kills, in one table (10 minutes)"
	@echo "make mutants put small faults into the code, and count those that the tests find (10 minutes)"
	@echo "make pins    write requirements*.txt from requirements*.in: all packages, with the hashes of their files"
	@echo "make images  pin the images of Dockerfile and compose.yaml by digest (needs Docker and its registry)"
	@echo "make clean   remove what the other targets made"

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "Python 3.11 or later is needed: make PYTHON=python3.12")'
	@echo "Making a virtual environment in $(VENV)"
	@$(PYTHON) -m venv $(VENV)

$(RUNTIME): requirements.txt | $(BIN)/python
	@echo "Installing $$(grep -c '==' requirements.txt) packages into $(VENV); this takes a minute or two"
	@$(INSTALL) --require-hashes -r requirements.txt
	@touch $@

$(SPARK): requirements-spark.txt | $(BIN)/python
	@echo "Installing Spark into $(VENV); this downloads 450 MB"
	@$(INSTALL) --require-hashes -r requirements-spark.txt
	@touch $@

$(DEV): requirements-dev.txt | $(BIN)/python
	@echo "Installing the packages for tests and documentation into $(VENV); this takes a few minutes"
	@$(INSTALL) --require-hashes -r requirements-dev.txt
	@touch $@ $(RUNTIME)

demo: $(RUNTIME)
	@$(BIN)/python -m examples.demo demo

test: $(DEV)
	$(BIN)/python -m pytest -n 4 --dist loadfile --no-loadscope-reorder  # most end-to-end tests wait: four fill two cores

missions: $(DEV)
	$(BIN)/python -m pytest -s tests/project/test_missions.py --everything

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
	$(BIN)/python -m docs.texts

suffixes:
	@$(PYTHON) -c 'from urllib.request import urlretrieve; urlretrieve("$(SUFFIXES_URL)", "$(SUFFIXES).new")'
	@grep -q "===END PRIVATE DOMAINS===" $(SUFFIXES).new && grep "^// VERSION:" $(SUFFIXES).new
	@mv $(SUFFIXES).new $(SUFFIXES)

screenshots: $(DEV)
	@test -d demo || $(BIN)/python -m examples.demo demo
	@$(BIN)/python -m docs.screenshots demo build/screenshots

bench: $(DEV)
	$(BIN)/python -m bench

mutants: $(DEV)
	$(BIN)/python -m bench.quality.mutants

# All three after the packages for development, so that a package has one version in all of them.
pins: | $(BIN)/python
	@$(PYTHON) -m venv $(VENV)/pins && $(VENV)/pins/bin/pip install --quiet uv==0.13.9
	$(COMPILE) requirements-dev.in -o requirements-dev.txt
	for name in requirements requirements-scrapyd requirements-spark; do \
		$(COMPILE) $$name.in --constraints requirements-dev.txt -o $$name.txt || exit 1; done

images:
	@for image in $$(sed -n 's/^FROM \([^@ ]*\).*/\1/p' Dockerfile) $$(sed -n 's/^    image: \(postgres[^@ ]*\).*/\1/p' compose.yaml); do \
		digest=$$(docker buildx imagetools inspect "$$image" --format '{{.Manifest.Digest}}') || exit 1; \
		sed -i.old -E "s|$$image(@sha256:[0-9a-f]+)?|$$image@$$digest|" Dockerfile compose.yaml; \
		rm Dockerfile.old compose.yaml.old; echo "$$image@$$digest"; done

clean:
	rm -rf $(VENV) demo bench-out build *.egg-info
