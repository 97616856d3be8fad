"""Peers: their own tests, run once against what they come with and once against the course's part in its place.

ipyparallel ships its tests. Those that talk to engines run against ipyparallel's controller and engines and against the
course's (`autograder/testing/engines_for_ipyparallel.py`), each test file in processes of its own. A test that fails
runs a second time, because ipyparallel's tests have time limits and a busy machine exceeds them. `names` lists the
tests that fail on the course's engines only. `explained` counts those whose reason is in tests/peers/README.md, and
`only_ours` counts the others.
"""

import ipyparallel

from autograder.bench import sample_course
from autograder.testing.peer_tests import DIFFERENT, ENGINE_FACING, OUR_ENGINES, run_tests


def rows():
    """One row per file of ipyparallel's engine-facing tests, then those of nbgrader's sample course."""
    for file in ENGINE_FACING:
        yield compare_engines(file)
    yield from sample_course.rows()


def summary(rows):
    """Whether every test that fails with the course's part only has a stated reason."""
    run, only_ours, explained = (sum(row.get(name, 0) for row in rows) for name in ("run", "only_ours", "explained"))
    return {"run": run, "only_ours": only_ours, "explained": explained, "met": only_ours == 0}


def compare_engines(file):
    """One row: the tests of one file of ipyparallel, against its engines and against the course's."""
    module = f"ipyparallel.tests.test_{file}"
    _, stock = run_tests(module)
    run, ours = run_tests(module, "-p", OUR_ENGINES)
    return {
        "suite": f"ipyparallel {ipyparallel.__version__} test_{file}",
        "run": run,
        "failed_stock": len(stock),
        "failed_ours": len(ours),
        "only_ours": len(ours - stock - DIFFERENT),
        "explained": len((ours - stock) & DIFFERENT),
        "names": " ".join(sorted(ours - stock)),
    }
