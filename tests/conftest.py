"""What holds for every test."""

import contextlib
import os
import signal
import subprocess
import sys

import pytest

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
    # What a shell runs in the background ignores SIGINT, and here tests press the interrupt button.
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items):
    items.sort(key=lambda item: item.path.name in NEED_HOROVOD)


@pytest.fixture(scope="session")
def horovod():
    """Wait until Horovod is built, or build it; the frameworks that it has, () where it cannot be built."""
    from course.horovod import build

    said = subprocess.run([sys.executable, "-m", "course.horovod.build"], capture_output=True, text=True).stdout
    parts = tuple(build.parts())
    if len(parts) < len(build.PARTS) and os.environ.get("CI") == "true":
        pytest.fail(f"Horovod is not installed, with {parts}: {said}")
    return parts


@pytest.fixture(scope="session")
def postgres_server():
    """A PostgreSQL server of our own: a function that makes a new database and gives its URL."""
    from autograder.testing.postgres import start_postgresql
    from course.errors import Problem

    with contextlib.ExitStack() as stack:
        try:
            new = stack.enter_context(start_postgresql("-F"))
        except Problem as problem:
            assert os.environ.get("CI") != "true", problem
            pytest.skip(str(problem))
        yield new


@pytest.fixture
def postgres(postgres_server):
    """A new database in PostgreSQL; its URL."""
    return postgres_server()
