# make lab, make test, make test-long, make bench, make book: each makes the environment .venv first if it is missing or
# outdated.
# make lab also builds Horovod, once, while JupyterLab already runs: make lab HOROVOD=no leaves it out.
# make lab SPARK=yes installs Spark first, once, for further steps of lab 14; it stays until the environment is removed.
# The environment is made with the first of python3.11, python3.12 and python3.13 in PATH, or with another one of these
# versions: make lab PYTHON=/path/to/python3.13

ifeq ($(OS),Windows_NT)
$(error The course does not run on Windows itself. Install WSL ("wsl --install" in PowerShell), then clone and make there)
endif

export PATH := $(CURDIR)/.venv/bin:$(PATH)
ENV_PYTHON = .venv/bin/python
PYTHON =
PYTHONS = 3.11 3.12 3.13
HOROVOD = yes
SPARK = no
KEEP = no

# .venv/made is written last and holds what the environment was made for: this folder, which its scripts name, and these
# pins. So an environment that is incomplete, moved or outdated is never used.
WANTED := $(CURDIR) $(shell cat requirements.txt pyproject.toml | cksum)
READY := $(shell test "$$(cat .venv/made 2>/dev/null)" = "$(WANTED)" && $(ENV_PYTHON) -c "" 2>/dev/null && echo yes)

.PHONY: lab test test-long test-rest test-again bench environment horovod spark made pins

lab: environment $(if $(filter yes,$(SPARK)),spark)
	@$(ENV_PYTHON) -m course.command lab $(if $(filter yes,$(HOROVOD)),--horovod)

# Tests start thousands of Python's processes. With this variable, which images of containers often set, each of them
# would compile the course once more.
unexport PYTHONDONTWRITEBYTECODE

# The tests run in three processes, on two cores too: most tests wait for other processes half of their time. Horovod is
# built meanwhile; the tests that need it come last and wait for it.
PYTEST = $(ENV_PYTHON) -m pytest -n 3 --dist loadgroup --no-loadscope-reorder

# Everything but the tests that are marked `long`: slow by nature.
test: instructors-clone environment
	@nice -n 19 $(ENV_PYTHON) -m course.horovod.build &
	@echo "== ruff" && $(ENV_PYTHON) -m ruff check && $(ENV_PYTHON) -m ruff format --check
	@echo "== course build --check" && $(ENV_PYTHON) -m course.command build --check
	@echo "== pytest" && $(PYTEST) -m "not long"

# Everything: make test, then the tests that it leaves out.
test-long: test
	@$(MAKE) --no-print-directory test-rest

# The attacks come after the others: they exhaust what they get hold of, and other tests would wait for them too long.
test-rest: instructors-clone environment
	@echo "== pytest, the long tier"; status=0; \
	$(PYTEST) -m long --ignore=tests/attacks || status=$$?; \
	$(PYTEST) -n 1 -m long tests/attacks || status=$$?; \
	exit $$status

# The tests that failed in the runs before, one after the other.
test-again: instructors-clone environment
	@$(ENV_PYTHON) -m pytest -n 1 --dist loadgroup --last-failed --last-failed-no-failures none

bench: instructors-clone environment
	@$(ENV_PYTHON) -m course.command bench

# Pages for students, pages for instructors, slides and a PDF, all in book/_build. What ran before is not run again.
.PHONY: book
book: instructors-clone environment
	@$(ENV_PYTHON) -m autograder.book.build

.PHONY: instructors-clone
instructors-clone:
	@test -d tests || { echo "The tests are in the instructor's clone: students use make lab." >&2; exit 1; }

environment: $(if $(READY),,made)
	@:

horovod: environment
	@$(ENV_PYTHON) -m course.horovod.build

spark: environment
	@$(ENV_PYTHON) -m pip --disable-pip-version-check --quiet --retries 2 install --no-input -r requirements-spark.txt \
	  2>.venv/install-spark.log || { \
	  echo "Spark could not be installed (.venv/install-spark.log says why): connect to the network, make room for 2 GB," \
	    "and try again, or leave it out." >&2; exit 1; }
	@$(ENV_PYTHON) -c "from course import spark; print(spark.describe_missing() or 'Spark is installed.')"

made:
	@set -e; found=; seen=; fail() { echo "$$*" >&2; exit 1; }; \
	if [ -e .venv/place ] && [ "$$(cat .venv/place)" != "$(CURDIR)" ]; then rm -rf .venv; fi; \
	if ! $(ENV_PYTHON) -m pip --version >/dev/null 2>&1; then \
	  for python in $(if $(PYTHON),"$(PYTHON)",$(addprefix python,$(PYTHONS)) python3 python); do \
	    version=$$("$$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null) || continue; \
	    case " $(PYTHONS) " in *" $$version "*) found=$$python; break;; esac; \
	    seen="$$seen$${seen:+, }$$python is Python $$version"; \
	  done; \
	  [ "$$found" ] || fail "Python $(firstword $(PYTHONS)) to $(lastword $(PYTHONS)) was not found$(if $(PYTHON), at $(PYTHON))$${seen:+ ($$seen)}: install it," \
	    "or name it as in: make $(or $(MAKECMDGOALS),lab) PYTHON=/path/to/python$(lastword $(PYTHONS))"; \
	  "$$found" -c 'import ensurepip, venv' 2>/dev/null || \
	    fail "This Python has no module venv: install it (Debian and Ubuntu: apt install python$$version-venv)," \
	      "then run make again."; \
	  echo "Making the environment .venv (once, a few minutes) ..."; \
	  "$$found" -m venv --clear .venv >/dev/null 2>&1 || \
	    fail "The environment .venv could not be made: is there room on the disk, and may you write in $(CURDIR)?"; \
	fi; \
	rm -f .venv/made; printf %s "$(CURDIR)" > .venv/place; \
	: "a package without INSTALLER was only partly unpacked: pip must not regard it as installed"; \
	for package in .venv/lib/python*/site-packages/*.dist-info; do \
	  [ -e "$$package/INSTALLER" ] || rm -rf "$$package"; \
	done; \
	pip="$(ENV_PYTHON) -m pip --disable-pip-version-check --retries 2 install --no-input"; \
	{ $$pip -r requirements.txt && $$pip --quiet --no-deps --no-build-isolation -e .; } 2>.venv/install.log || { \
	  if grep -q -i "no space left" .venv/install.log; then why="The disk is full: make room"; \
	  elif grep -q -i -E "connection|resolution|timed out|network|proxy" .venv/install.log; then \
	    why="The packages could not be fetched: connect to the network"; \
	  else why="The packages could not be installed: read the reason in .venv/install.log and correct it"; fi; \
	  fail "$$why, then run make again; it continues where it stopped."; \
	}; \
	printf %s "$(WANTED)" > .venv/made

# Rewrites requirements.txt with the newest versions that pyproject.toml allows, for each of PYTHONS, which must be in
# PATH. make pins KEEP=yes keeps the present versions and only adds what pyproject.toml has that they do not.
pins: environment
	@$(ENV_PYTHON) -m autograder.authoring.pins $(if $(filter yes,$(KEEP)),--keep)
