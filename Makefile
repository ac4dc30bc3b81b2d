# Two commands to know: `make demo` shows Rocky at work, `make test` proves it.
# `make check` is the fast loop while changing it. Everything is installed into .venv;
# nothing outside this folder is touched.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
INSTALLED_DEV := $(VENV)/.installed-dev
JOBS ?= auto
# What Rocky keeps for its user between runs stays in this folder too.
KEEP := XDG_CACHE_HOME="$(CURDIR)/$(VENV)/cache"

export PIP_DISABLE_PIP_VERSION_CHECK := 1
# Whatever the shell says: without bytecode every worker and every process that a test starts
# compiles Rocky and the tests anew, which takes as long as the tests.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help vscode vscode-server demo test test-all check lint schemas pictures page-pictures vscode-pictures test-fast test-spark bench bench-run bench-replication bench-branch hooks lock jar dist java clean

help:
	@echo "make demo               install into $(VENV) and take a short tour of the product"
	@echo "make test               the whole suite: lint, fast tests, and the tests that ask Spark"
	@echo "make test-all           the same with every case, and the tests that take longest"
	@echo "make check              format, lint, types, imports and the fast tests: the loop while editing"
	@echo "make lint               the first four of these"
	@echo "make test-fast          every test that needs no Spark"
	@echo "make test-spark         the tests that ask Spark, in one process"
	@echo "make schemas            write the JSON Schemas of all outputs from the types of their reports"
	@echo "make pictures           draw the pictures of the docs from what the playground says"
	@echo "make page-pictures      take the pictures of the page for the docs; needs Chromium"
	@echo "make vscode-pictures    take the pictures of VS Code for the docs; needs Chromium"
	@echo "make bench              compile a generated project of 10,000 models and print the cost"
	@echo "make bench-run          write, read, merge and run next to plain Spark, and print the ratios"
	@echo "make bench-branch       branch 100 tables next to copying them, and diff a project with itself"
	@echo "make bench-replication  find nothing new in 1,000 tables, and copy 1 % of 10 million rows"
	@echo "make vscode             the extension for VS Code, in editors/vscode/dist/"
	@echo "make vscode-server      install a VS Code for a browser, in which make test-all tries the extension"
	@echo "make hooks              run the checks of a file before each commit that changes it"
	@echo "make jar                compile java/ into the jar that ships with Rocky; needs a JDK 17"
	@echo "make lock               write requirements.lock anew; UPGRADE=1 for the newest of everything"
	@echo "make dist               the source archive and the wheel, in dist/"
	@echo "make java               install a Java runtime into $(VENV) if there is none"
	@echo "make clean              remove $(VENV), demo/, dist/ and every cache"

# ------------------------------------------------------------------ installation
# The stamps are older than pyproject.toml or the lock exactly when the dependencies may have
# changed, so a second run installs nothing. The lock constrains every installation: the same
# versions here, in CI and on the next machine.

LOCK := requirements.lock
INSTALL := $(BIN)/python -m pip install --quiet --constraint $(LOCK) --editable

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "Rocky needs Python 3.11 or newer, and '$(PYTHON)' is `$(PYTHON) --version 2>&1`."; \
	  echo "Install one and name it: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || { \
	  echo "Python's venv module is missing. On Debian or Ubuntu: apt-get install python3-venv"; exit 1; }
	@echo "creating $(VENV)"
	@$(PYTHON) -m venv $(VENV)

$(INSTALLED): pyproject.toml $(LOCK) | $(BIN)/python
	@echo "installing Rocky into $(VENV) (the first time this fetches Spark, some 500 MB)"
	@$(INSTALL) '.[connect]'
	@touch $@

$(INSTALLED_DEV): pyproject.toml $(LOCK) | $(BIN)/python
	@echo "installing Rocky and its tools into $(VENV) (the first time this fetches Spark, some 450 MB)"
	@$(INSTALL) '.[dev]'
	@touch $(INSTALLED) $@

# Spark 4.1 runs on Java 17 and newer. Rocky itself is asked, so that both look in the same places;
# without one, a runtime is installed as a wheel.
java: $(INSTALLED)
	@$(BIN)/python -c 'import os; from rocky.spark.java import choose_java; choose_java(os.environ)' 2>/dev/null || { \
	  echo "no Java 17 or newer was found: installing one into $(VENV) (some 100 MB)"; \
	  $(INSTALL) '.[java]' && \
	  $(BIN)/python -c 'import os; from rocky.spark.java import choose_java; choose_java(os.environ)'; }

# ------------------------------------------------------------------ the tour

demo: $(INSTALLED) java
	@$(KEEP) PATH="$(CURDIR)/$(BIN):$$PATH" sh tools/tour.sh

# ------------------------------------------------------------------ checks and tests

# Runs a command; one line when it is fine, its whole output when it is not.
step = output=`$(2) 2>&1` && echo "ok    $(1)" || { status=$$?; echo "$$output"; echo "FAIL  $(1)"; exit $$status; }
FORMAT = $(call step,format,$(BIN)/ruff format --check --output-format concise .)
STYLE = $(call step,lint,$(BIN)/ruff check --output-format concise .)
TYPES = $(call step,types,$(BIN)/mypy)
IMPORTS = $(call step,imports,$(BIN)/lint-imports --no-cache)

lint: $(INSTALLED_DEV)
	@$(FORMAT)
	@$(STYLE)
	@$(TYPES)
	@$(IMPORTS)

# On every core, the tests of a file mostly in one process; of what they write only what failed is kept.
FAST := $(BIN)/python -m pytest -q -n $(JOBS) --dist worksteal -o tmp_path_retention_policy=failed

# Types take half a minute on one core where nothing is known of the last time, so the tests run beside.
check: $(INSTALLED_DEV)
	@$(FORMAT)
	@$(STYLE)
	@said=`mktemp`; ( $(TYPES); $(IMPORTS) ) >"$$said" 2>&1 & lint=$$!; \
	$(KEEP) $(FAST) -m "not spark and not server and not slow and not exhaustive" --sample $${ROCKY_SEED:-1}; \
	tests=$$?; wait $$lint; lint=$$?; cat "$$said"; rm -f "$$said"; [ $$tests -eq 0 ] && [ $$lint -eq 0 ]

# What `rocky COMMAND -o json` prints is a typed report; a test wants the schemas to be its own.
schemas: $(INSTALLED_DEV)
	@$(BIN)/python tools/generate_schemas.py
	@$(BIN)/python -m tools.generate_openapi
	@$(BIN)/python tools/generate_completions.py

# A test wants the pictures to be what this draws.
pictures: $(INSTALLED_DEV)
	@$(KEEP) $(BIN)/python tools/draw_pictures.py

# Pixels differ between machines, so no test compares these.
page-pictures: $(INSTALLED_DEV)
	@$(KEEP) $(BIN)/python tools/photograph_page.py

vscode-pictures: $(INSTALLED_DEV) vscode vscode-server
	@$(KEEP) $(BIN)/python tools/photograph_vscode.py

test-fast: $(INSTALLED_DEV)
	@$(KEEP) $(FAST) -m "not spark and not exhaustive"

# One process: every Spark test shares one session, and so one JVM.
test-spark: $(INSTALLED_DEV) java
	@$(KEEP) $(BIN)/python -m pytest -q -p no:xdist -m spark tests/spark

test: $(INSTALLED_DEV) java lint
	@$(KEEP) sh tools/test.sh $(BIN)/python
	@echo "all tests passed"

# Every kill, every history, real clusters: before a release, and before a change of the runner lands.
# The extension is tried in a VS Code, which is installed once; `EDITORS=no` leaves both out and says so.
EDITORS ?= yes
test-all: $(INSTALLED_DEV) java lint $(if $(filter yes,$(EDITORS)),vscode vscode-server)
	@$(KEEP) ROCKY_EDITORS=$(filter yes,$(EDITORS)) sh tools/test.sh $(BIN)/python all
	@echo "all tests passed"

bench: $(INSTALLED_DEV)
	@$(BIN)/python benchmarks/compile.py
	@$(BIN)/python benchmarks/classification.py

# Writes, reads, merges and a graph of twenty models, each next to plain Spark in the same run.
bench-run: $(INSTALLED_DEV) java
	@$(BIN)/python benchmarks/run.py

# Neither needs Java: a branch is made of logs, a diff of compilations.
bench-branch: $(INSTALLED_DEV)
	@$(BIN)/python benchmarks/branch.py
	@$(BIN)/python benchmarks/diff.py

# A lake that is listed, and one that is copied; `bench-run` does this too.
bench-replication: $(INSTALLED_DEV) java
	@$(BIN)/python benchmarks/replication.py

# ------------------------------------------------------------------ the editor

# Node comes from a wheel; neither users nor releases of Rocky need it.
EXTENSION := editors/vscode/dist/rocky.vsix
EXTENSION_TOOLS := editors/vscode/node_modules/.package-lock.json
WITH_NODE := cd editors/vscode && PATH="$(CURDIR)/$(VENV)/node/bin:$$PATH"

vscode: $(EXTENSION)

$(EXTENSION_TOOLS): editors/vscode/package-lock.json | $(INSTALLED)
	@sh tools/node.sh $(VENV)
	@$(WITH_NODE) && npm ci --ignore-scripts --silent
	@touch $@

# The lineage panel is the page, so its assets are part of the extension.
$(EXTENSION): $(EXTENSION_TOOLS) $(shell find editors/vscode src/rocky/operations/page/assets -type f -not -path '*/node_modules/*' -not -path '*/dist/*')
	@sh tools/node.sh $(VENV)
	@$(WITH_NODE) && npm run --silent package

vscode-server: $(INSTALLED)
	@sh tools/node.sh $(VENV) code-server

# ------------------------------------------------------------------ release

hooks: $(INSTALLED_DEV)
	@$(BIN)/pre-commit install

# Versions stay where they are unless pyproject.toml or UPGRADE asks for others. One file for every
# Python and platform; without addresses, because whoever installs has a registry of their own.
lock: | $(BIN)/python
	@$(BIN)/python -m pip install --quiet uv
	@$(BIN)/uv pip compile --quiet --universal --all-extras --no-annotate $(if $(UPGRADE),--upgrade) \
	  --custom-compile-command "make lock" --output-file $(LOCK) pyproject.toml

# The jar is checked in: who installs Rocky has a Java that runs and rarely one that compiles. A test
# wants it to be what this would write.
jar: $(INSTALLED_DEV)
	@$(BIN)/python tools/build_jar.py

# The wheel is made from the source archive, so neither can lack what the other has.
dist: $(INSTALLED_DEV)
	@rm -rf dist
	@$(BIN)/python -m build --no-isolation --outdir dist .

clean:
	rm -rf $(VENV) demo dist .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
