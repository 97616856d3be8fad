"""Where functions find the names that they use on engines: what they took along first, then the engine's variables."""

import pytest

from course import cluster
from course.spmd import RunFailed, spmd

# Functions as cells of a notebook have them: they belong to no module that an engine could import.
NOTEBOOK = {}
exec(
    """
def assign():
    global assigned
    assigned = 1

def add_one():
    global counter
    counter += 1
    return counter

def read_counter():
    return counter

def add_and_read():
    add_one()
    return read_counter()

def countdown(n):
    global last
    last = n
    return countdown(n - 1) if n else base

def use_helper():
    return helper() + base

def helper():
    return 10

def redefine_print(lines):
    import builtins

    before, builtins.print = builtins.print, lines.append
    try:
        print(base)
    finally:
        builtins.print = before
    return lines

class Adder:
    def add(self, x):
        return x + base

def on_ranks(comm):
    return comm.rank + base

def assign_on_ranks(comm):
    global assigned_in_a_run
    assigned_in_a_run = comm.rank
""",
    NOTEBOOK,
)


@pytest.fixture(scope="module")
def engines():
    yield cluster.start(2)
    cluster.stop()


@pytest.fixture(autouse=True)
def variables(engines):
    """Each test begins with `base` on the engines, and with no other variable."""
    engines.client.clear(block=True)
    engines.push({"base": 7})


def take(name, **more):
    """A function of the notebook, which has these further variables."""
    function = NOTEBOOK[name]
    return type(function)(function.__code__, NOTEBOOK | more, name, function.__defaults__, function.__closure__)


def test_what_a_function_took_along_comes_first_and_stays_out_of_the_engines_namespace(engines):
    engines.execute("helper = lambda: 1000")
    assert engines.apply_sync(NOTEBOOK["use_helper"]) == [17, 17]
    assert engines.apply_sync(take("use_helper", base=1)) == [11, 11]
    engines.execute("seen = helper(), base")
    assert engines["seen"] == [(1000, 7)] * 2


def test_a_variable_that_changes_is_seen_by_a_function_that_is_already_on_the_engine(engines):
    engines["f"] = NOTEBOOK["use_helper"]
    engines.execute("base = 1; one = f(); base = 2; two = f()")
    assert engines[["one", "two"]] == [[11, 12]] * 2


def test_a_method_of_the_notebooks_class_sees_the_engines_variables(engines):
    assert engines.apply_sync(NOTEBOOK["Adder"]().add, 1) == [8, 8]


def test_a_global_assignment_stays_on_the_engine_and_what_was_taken_along_counts_first(engines):
    engines.apply_sync(NOTEBOOK["assign"])
    assert engines["assigned"] == [1, 1]
    engines["counter"] = 5
    assert engines.apply_sync(NOTEBOOK["add_and_read"]) == [6, 6]
    assert engines.apply_sync(NOTEBOOK["add_and_read"]) == [7, 7]
    engines["add_one"] = NOTEBOOK["add_one"]
    engines.execute("counter = 100; add_one(); add_one()")
    assert engines["counter"] == [102, 102]
    assert engines.apply_sync(take("add_one", counter=0)) == [1, 1]
    assert engines["counter"] == [1, 1]


def test_a_recursive_function_may_assign_a_global_name(engines):
    assert engines.apply_sync(NOTEBOOK["countdown"], 3) == [7, 7]
    assert engines["last"] == [0, 0]


def test_a_builtin_that_a_function_replaces_is_replaced(engines):
    assert engines.apply_sync(NOTEBOOK["redefine_print"], []) == [[7], [7]]


def test_use_cloudpickle_changes_nothing(engines):
    engines.client[:].use_cloudpickle().get()
    assert engines.apply_sync(NOTEBOOK["use_helper"]) == [17, 17]


def test_functions_on_ranks_see_the_engines_variables_and_leave_none(engines):
    assert list(spmd(NOTEBOOK["on_ranks"])) == [7, 8]
    assert list(spmd(take("on_ranks", base=1))) == [1, 2]
    spmd(NOTEBOOK["assign_on_ranks"])
    with pytest.raises(RunFailed, match="name 'assigned_in_a_run' is not defined"):
        spmd(lambda comm: assigned_in_a_run)  # noqa: F821
