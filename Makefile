# Needs Python 3.11 or newer with venv, make and a shell. Java is taken from pip where the machine has none.

PYTHON ?= python3
VENV   ?= .venv
BUILD  ?= build

# Files, folders, globs or @manifests, several words if need be; without them the sample archive is made and taken.
INPUT  ?=
OUTPUT ?= $(BUILD)/extracted
REPORT ?= $(BUILD)/report
BENCH  ?= bench.json
# Such as SCALE="--only growth --pages 500000"; without it all parts, which is hours.
SCALE  ?=
BENCH_SCALE ?= bench-scale.json
# Names of combinations of versions; without them all nine.
MATRIX ?=
# Names of extras, "plain" for none; without them all.
EXTRAS ?=
# Files of gold pages: sets by their own gold, sets that readers labelled whole, and phrases (docs/benchmark.md); without any,
# the pages of the sample archive.
PAGES  ?=
READ   ?=
PHRASES ?=
# Such as FOLDS=folds, of `dbce train --folds`, and PEER_PAGES=150, so many of each set of PAGES for peers; without them none, and all.
FOLDS  ?=
PEER_PAGES ?=
# Names of extractors; PEERS= leaves the results of peers as they are.
PEERS  ?= peers
OWN    ?= own
BENCHMARK ?= $(BUILD)/benchmark
# With gold of others the page is the published one.
LEADERBOARD ?= $(if $(PAGES)$(READ)$(PHRASES),docs/leaderboard.md,$(BENCHMARK)/leaderboard.md)
GATE   = $(BUILD)/gate

BIN  = $(VENV)/bin
DBCE = $(BIN)/dbce
PYTEST = $(BIN)/python -m pytest
# Seconds for each of what `make fuzz` looks at.
FUZZ_SECONDS ?= 3600
# Seconds that all nights of `make soak` take together.
SOAK_SECONDS ?= 21600
# Such as PYTEST_ARGS="-k buckets" or, as in CI, PYTEST_ARGS=--coverage.
PYTEST_ARGS ?=

SAMPLE = $(BUILD)/sample
BENCH_SAMPLE = $(BUILD)/bench-sample
# An output that exists is replaced only where it is this file's own default, never one that a user named.
OVERWRITE = $(if $(filter file,$(origin OUTPUT)),--overwrite)

# Each stamp stands for packages installed as setup.cfg says; it is older than setup.cfg when that changed.
CREATED     = $(VENV)/created
READY       = $(VENV)/ready
# Spark's classes are stored, of which each of the hundred Javas of a test run then starts in half the time.
READY_CLASSES = $(VENV)/ready-classes
READY_BENCH = $(VENV)/ready-bench
READY_DEV   = $(VENV)/ready-dev
READY_DOCS  = $(VENV)/ready-docs
READY_FUZZ  = $(VENV)/ready-fuzz
READY_UV    = $(VENV)/ready-uv

# Hundreds of processes of a test run would each compile the package anew: half a second for dbce, one for a run on Spark.
unexport PYTHONDONTWRITEBYTECODE

# Install this package, to work on it, with the extras $(1). uv resolves and installs on all cores, in a third of pip's time,
# and packs the 450 MB of Spark without pressing its archives once more. pip does it where uv is not there, or does not reach
# the index that pip is given.
define installed
{ $(BIN)/python -m pip install --quiet uv && $(BIN)/uv pip install --python $(BIN)/python $(PACKED) --quiet --editable '.[$(1)]' \
  || $(BIN)/python -m pip install --quiet --resume-retries 20 --editable '.[$(1)]'; }
endef
PACKED = --config-settings-package 'pyspark:--build-option=--compression=stored'

# Evaluate the pages $(2) of the part $(1) of the leaderboard, by peers $(3) of each set.
define evaluated
$(if $(2),$(if $(PEERS),$(DBCE) evaluate $(2) --extractors $(PEERS) --reuse --output $(BENCHMARK)/peers/$(1) $(if $(3),--sample-size $(3))))
$(if $(2),$(if $(OWN),$(DBCE) evaluate $(2) --extractors $(OWN) --output $(BENCHMARK)/own/$(1) $(if $(FOLDS),--folds $(FOLDS))))
endef

.DEFAULT_GOAL := help
.PHONY: help extract test test-fast docs docs-test faults swift month soak stream-day urltree-day matrix lowest wheel airflow pipelines lint format bench bench-scale benchmark gate fuzz clean distclean

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## /\1: /p' $(MAKEFILE_LIST) | awk -F': ' '{ printf "make %-12s %s\n", $$1, $$2 }'

extract: $(READY) $(if $(INPUT),,$(SAMPLE)/made) ## extract the sample archive, or INPUT="a.warc.gz folder" into OUTPUT=folder, with a report
	$(DBCE) extract $(or $(INPUT),$(SAMPLE)) --output $(OUTPUT) $(OVERWRITE)
	$(DBCE) report $(OUTPUT) --output $(REPORT)

test: $(READY_CLASSES) ## the tests, on all cores, but those of faults, swift and docs-test
	$(PYTEST) --numprocesses logical --dist loadgroup $(PYTEST_ARGS)

test-fast: $(READY_DEV) ## the tests without Spark and browser
	$(PYTEST) -m "not spark and not browser" $(PYTEST_ARGS)

docs: $(READY_DOCS) ## the documentation as a site, in build/site
	$(BIN)/mkdocs build --quiet --site-dir $(BUILD)/site
	@echo "Site: $(BUILD)/site/index.html"

docs-test: $(READY_DEV) ## do what docs/tutorial.md says, from a laptop to a cluster (12 minutes on two busy cores)
	$(PYTEST) -m docs tests/docs $(PYTEST_ARGS)

faults: $(READY_DEV) ## lose each kind of part of a cluster in every stage of a run, run a stream on one, and kill runs, streams and increments at more steps (half an hour; links as root, with iproute2)
	$(PYTEST) -m faults tests/spark/test_faults.py tests/spark/test_resume.py tests/spark/jobs/test_stream_job.py tests/spark/jobs/test_increment_job.py $(PYTEST_ARGS)

swift: $(READY_DEV) ## read from and write to OpenStack Swift, which is installed into ~/.cache/dbce-spark: a real store that speaks S3
	$(PYTEST) -m swift tests/spark/test_swift.py $(PYTEST_ARGS)

month: $(READY_DEV) ## play a month of daily crawls through examples/dbce-batch, with two kills, and set it beside one run (half an hour)
	$(BIN)/python -m benchmarks.programs.month $(BUILD)/month

soak: $(READY_DEV) ## let feeds be acquired, streamed and extracted for SOAK_SECONDS (six hours), with kills and a full disk; called again, it goes on
	$(BIN)/python -m benchmarks.programs.soak $(BUILD)/soak $(SOAK_SECONDS)

stream-day: $(READY_DEV) ## send a day of 20,000 documents through a stream by DBCE, and see that memory stays flat (ten minutes)
	$(BIN)/python -m benchmarks.programs.stream_day

urltree-day: $(READY_DEV) ## send a day of 100,000 documents through URL Tree, and see that memory stays flat (five minutes)
	$(BIN)/python -m benchmarks.programs.urltree_day

matrix: $(READY_UV) ## try nine combinations of Spark, Python and Java (a quarter of an hour), or MATRIX="spark4.3-python3.13-java21" of them
	PATH="$(abspath $(BIN)):$$PATH" $(BIN)/python -m benchmarks.programs.matrix $(BUILD)/matrix $(MATRIX)

lowest: $(READY_UV) ## run the tests of the core with the lowest versions that setup.cfg allows (five minutes)
	$(BIN)/uv venv --quiet --clear --python $(BIN)/python $(BUILD)/lowest
	$(BIN)/uv pip install --quiet --python $(BUILD)/lowest/bin/python --resolution lowest-direct --editable '.[bench,dev,train]'
	$(BUILD)/lowest/bin/python -m pytest -W default -m "not spark and not browser and not data" $(addprefix tests/,archive dbce files html output streaming) $(PYTEST_ARGS)

wheel: $(READY) ## build the package, and try it in clean environments, plain and with each extra, or EXTRAS="plain spark" of them (half an hour)
	$(BIN)/python -m benchmarks.programs.wheel $(BUILD)/wheel $(EXTRAS)

airflow: $(READY_UV) ## run examples/airflow on the sample archive, by an Airflow in an environment of its own
	examples/airflow/try.sh $(BIN) $(BUILD)/airflow

pipelines: $(READY_DEV) ## run docs/pipelines.md and examples/pipelines in the libraries that they are for (500 MB; NeMo Curator without Torch)
	$(call installed,pipelines)
	$(BIN)/python -m pip install --quiet --no-deps 'nemo-curator>=1.4,<1.5' cosmos-xenna loguru
	$(PYTEST) tests/examples/test_pipelines.py $(PYTEST_ARGS)

lint: $(READY_DEV) ## format, lint, types, import contracts, the counts of rooms, layers and names, lines of code by room
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(PYTEST) --quiet tests/test_layout.py
	$(BIN)/python -m tests.test_layout

format: $(READY_DEV) ## lay out the code as `make lint` wants it
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(READY_BENCH) $(if $(INPUT),,$(BENCH_SAMPLE)/made) ## measure speed into bench.json, on a larger sample archive or on INPUT="..."
	$(BIN)/python -m benchmarks speed $(or $(INPUT),$(BENCH_SAMPLE)) --output $(BENCH)

bench-scale: $(READY_BENCH) ## measure growth, hard shapes and two workers into bench-scale.json, for hours; SCALE="..." for some
	$(BIN)/python -m benchmarks scale --work $(BUILD)/scale --output $(BENCH_SCALE) $(SCALE)

benchmark: $(READY_DEV) $(if $(PAGES)$(READ)$(PHRASES),,$(GATE)/made) ## score all extractors on PAGES="a.jsonl.xz b.jsonl" into build/benchmark, write docs/leaderboard.md, and build the site with it
	$(if $(PHRASES),$(BIN)/python -m benchmarks phrase-pages $(PHRASES) --output $(BENCHMARK)/phrase-pages.jsonl.xz)
	$(call evaluated,whole,$(READ))
	$(call evaluated,articles,$(or $(PAGES),$(if $(READ)$(PHRASES),,$(GATE)/gold.jsonl)),$(PEER_PAGES))
	$(call evaluated,phrases,$(if $(PHRASES),$(BENCHMARK)/phrase-pages.jsonl.xz))
	$(BIN)/python -m benchmarks leaderboard $(BENCHMARK)/peers $(BENCHMARK)/own --output $(LEADERBOARD) \
	  $(if $(PHRASES),--phrases $(PHRASES)) $(if $(READ),--readers $(READ))
	$(if $(filter docs/%,$(LEADERBOARD)),$(BIN)/mkdocs build --quiet --site-dir $(BUILD)/site)

gate: $(READY_DEV) $(GATE)/made ## hold the scores on the sample archive to conf/floors.json
	$(DBCE) evaluate $(GATE)/gold.jsonl --extractors dbce-article,dbce --floors conf/floors.json --output $(BUILD)/gated

fuzz: $(READY_FUZZ) ## look for inputs that break the reader, FUZZ_SECONDS each for records, bodies, charsets and pages
	mkdir -p $(BUILD)/fuzz
	for target in records body charset page; do $(BIN)/python -m benchmarks.programs.fuzz $$target $(BUILD)/fuzz/$$target \
	  -max_total_time=$(FUZZ_SECONDS) -timeout=25 -rss_limit_mb=2048 -max_len=16384 || exit 1; done

clean: ## remove what was built, but not the virtual environment
	rm -rf $(BUILD) $(BENCH) $(BENCH_SCALE) dist *.egg-info .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -not -path './$(VENV)/*' -prune -exec rm -rf {} +

distclean: clean ## remove the virtual environment too
	rm -rf $(VENV)

# A sample that was made halfway has no stamp and is made again.
$(SAMPLE)/made: | $(READY)
	rm -rf $(SAMPLE)
	$(BIN)/python -m benchmarks sample-archive $(SAMPLE)
	touch $@

$(BENCH_SAMPLE)/made: | $(READY)
	rm -rf $(BENCH_SAMPLE)
	$(BIN)/python -m benchmarks sample-archive $(BENCH_SAMPLE) --pages 1000 --weight 6
	touch $@

$(GATE)/made: | $(READY)
	rm -rf $(GATE)
	$(BIN)/python -m benchmarks sample-archive $(GATE) --pages 60 --gold $(GATE)/gold.jsonl
	touch $@

$(CREATED):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed: make PYTHON=python3.11 ...")'
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "Installing into $(VENV): Spark alone is a download of 450 MB, some minutes the first time."
# An old pip cannot resolve packages that ask for an extra of the same library.
	$(BIN)/python -m pip install --quiet --upgrade pip
	touch $@

$(READY): $(CREATED) setup.cfg pyproject.toml
	$(call installed,spark)
	$(BIN)/python -m dbce_spark.spark.engine.java >/dev/null 2>&1 || $(call installed,java)
	$(BIN)/python -m dbce_spark.spark.engine.java
	touch $@

$(READY_BENCH): $(READY)
	$(call installed,bench)
	touch $@

$(READY_DOCS): $(READY)
	$(call installed,docs)
	touch $@

$(READY_FUZZ): $(READY)
	$(call installed,fuzz)
	touch $@

$(READY_UV): $(READY)
	$(call installed,environments)
	touch $@

# Tests try the comparison with other extractors and the Java that pip brings, whatever this machine has.
DEV = bench,dev,docs,evaluate,java,train
$(READY_DEV): $(CREATED) setup.cfg pyproject.toml
	$(call installed,$(DEV))
	$(BIN)/python -m dbce_spark.spark.engine.java
	touch $(READY) $@

$(READY_CLASSES): $(READY_DEV)
	$(BIN)/python -m dbce_spark.spark.jobs.class_archive && touch $@ || echo "Tests go on without: their Javas start more slowly."
