"""What holds for every test: how tests are shared out among processes, what a skip means, and shared fixtures."""

import contextlib
import copy
import os
import re
import signal
import subprocess
import sys
from concurrent.futures import Future
from pathlib import Path

import hypothesis
import pytest
from _pytest.nodeid import coerce_node_id

TESTS = Path(__file__).parent
hypothesis.settings.register_profile("untimed", deadline=None)  # no test asserts a time
hypothesis.settings.load_profile("untimed")
# These come last in `make test`: they need Horovod, which is built while the others run.
NEED_HOROVOD = (
    "test_horovod.py",
    "test_horovod_outside.py",
    "test_labs.py",
    "test_lecture_programs.py",
    "test_frameworks.py",
    "test_road.py",
)
# The groups that take longest come first, the longest of all at the beginning, so that no process works on one of them
# alone at the end: before all others in the long tier, and in `make test` before the others that need Horovod.
ANSWERS = "tests/test_labs.py::test_an_answer_loses_exactly_the_checks_it_names_and_gets_its_hint"
LONGEST = (
    f"{ANSWERS}[06",
    "tests/test_road.py",
    "tests/book/",
    *(f"{ANSWERS}[{number}" for number in ("14", "16", "09", "08", "11")),
    "tests/slurm/",
    "tests/test_python_313.py",
    "tests/autograder/bench/test_bench_board.py",
    *(f"{ANSWERS}[{number}" for number in ("15", "17", "12", "03")),
)


def pytest_configure():
    # A shell's background process ignores SIGINT, as do pytest-xdist's workers, and some tests press Ctrl-C.
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(config, items):
    """Put the tests in the order in which they run, and keep those of a group in one process.

    A group is what a mark `xdist_group` names, otherwise the file: so engines and servers of a file are made once.
    pytest-xdist 3.8 appends the group to `_nodeid`, which pytest 9.2 no longer reads; so this does it in its place.
    """
    items.sort(key=place)
    if not getattr(config.option, "loadgroup", False):
        return
    for item in items:
        mark = item.get_closest_marker("xdist_group")
        group = mark.args[0] if mark else item.path.relative_to(TESTS).as_posix()
        item._id = coerce_node_id(f"{item.nodeid}@{group}")


def place(item):
    """What tests are sorted by: whether they wait for Horovod, then the place among the groups that take longest."""
    waits = item.path.name in NEED_HOROVOD and not item.get_closest_marker("long")
    return waits, next((k for k, start in enumerate(LONGEST) if item.nodeid.startswith(start)), len(LONGEST))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """With CI=true a skip is a failure, because there every machine has what the tests need."""
    report = yield
    is_skip = report.skipped and not hasattr(report, "wasxfail")
    if is_skip and os.environ.get("CI") == "true" and not item.get_closest_marker("may_skip"):
        report.outcome = "failed"
        report.longrepr = f"{item.nodeid} was skipped, which is a failure with CI=true: {call.excinfo.value}"
    return report


@pytest.fixture(scope="module", autouse=True)
def without_torch(request):
    """Spare engines the import of PyTorch, most of a start, in modules that do not name it and run no whole labs."""
    with pytest.MonkeyPatch.context() as patch:
        if not re.search("torch|run_lab", request.path.read_text()):
            patch.setenv("COURSE_PREFORK_TORCH", "no")
        yield


@pytest.fixture(scope="session")
def horovod():
    """Wait until Horovod is built, or build it; returns the frameworks that it supports, () if it cannot be built."""
    from course.horovod import installation, recipe

    output = subprocess.run([sys.executable, "-m", "course.horovod.build"], capture_output=True, text=True).stdout
    parts = tuple(installation.find_parts())
    if len(parts) < len(recipe.PARTS) and os.environ.get("CI") == "true":
        pytest.fail(f"Horovod is installed for {parts} only: {output}")
    return parts


@pytest.fixture(scope="session")
def run_lab(request, horovod):
    """A function: (lab, way) -> the LabRun of autograder/authoring/judge.py, made once.

    It holds the answers that the selected tests with these parameters `lab` and `way` have as `answer`. Where all of
    them have one, nothing is run of the untouched lab and of the cells that only draw or measure.
    """
    from autograder.authoring import judge
    from autograder.labs import build, source

    runs = {}

    def run_lab(lab, way):
        if (lab, way) not in runs:
            runs[lab, way] = Future()
            try:
                runs[lab, way].set_result(run(lab, way))
            except Exception as error:  # which then is that of all tests that need this run
                runs[lab, way].set_exception(error)
        return runs[lab, way].result()

    def run(lab, way):
        selected = [item.callspec.params for item in request.session.items if hasattr(item, "callspec")]
        selected = [params for params in selected if (params.get("lab"), params.get("way")) == (lab, way)]
        solution = build.solved(lab)
        untouched = judge.untouched_version(lab, solution)
        if all("answer" in params for params in selected):
            solution, untouched = copy.copy(solution), copy.copy(untouched)
            solution.cells = [cell for cell in solution.cells if not source.is_measure(cell)]
            untouched.cells = []
        return judge.examine_lab(
            way, solution, untouched, [params["answer"] for params in selected if "answer" in params]
        )

    return run_lab


@pytest.fixture(scope="session")
def postgres_server():
    """A PostgreSQL server for this process: a function that creates a database and returns its URL."""
    from autograder.testing.postgres import start_postgresql
    from course.errors import Problem

    with contextlib.ExitStack() as stack:
        try:
            create_database = stack.enter_context(start_postgresql("-F"))
        except Problem as problem:
            pytest.skip(str(problem))
        yield create_database


@pytest.fixture
def postgres(postgres_server):
    """The URL of a new database in PostgreSQL."""
    return postgres_server()
