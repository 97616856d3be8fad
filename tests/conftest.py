"""What holds for every test: how tests are shared out among processes, what a skip means, and shared fixtures."""

import contextlib
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
# These come last: they need Horovod, which `make test` builds while the others run.
NEED_HOROVOD = (
    "test_horovod.py",
    "test_horovod_outside.py",
    "test_labs.py",
    "test_lecture_programs.py",
    "test_frameworks.py",
    "test_answers.py",
    "test_road.py",
)


def pytest_configure():
    # A shell's background process ignores SIGINT, as do pytest-xdist's workers, and some tests press Ctrl-C.
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items):
    """Order the tests, and keep those of a file in one process, which so makes its engines and servers once."""
    items.sort(key=lambda item: item.path.name in NEED_HOROVOD)
    for item in items:
        if not item.get_closest_marker("xdist_group"):
            item.add_marker(pytest.mark.xdist_group(item.path.relative_to(TESTS).as_posix()))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """With CI=true a skip is a failure: there every machine has what the tests need."""
    report = yield
    if report.skipped and not hasattr(report, "wasxfail") and os.environ.get("CI") == "true":
        report.outcome = "failed"
        report.longrepr = f"{item.nodeid} was skipped, which is a failure with CI=true: {call.excinfo.value}"
    return report


@pytest.fixture(scope="session")
def horovod():
    """Wait until Horovod is built, or build it; returns the frameworks that it supports, () where it cannot be built."""
    from course.horovod import installation, recipe

    output = subprocess.run([sys.executable, "-m", "course.horovod.build"], capture_output=True, text=True).stdout
    parts = tuple(installation.find_parts())
    if len(parts) < len(recipe.PARTS) and os.environ.get("CI") == "true":
        pytest.fail(f"Horovod is installed for {parts} only: {output}")
    return parts


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
