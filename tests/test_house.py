"""The rules that hold the house up, read from its imports."""

import pytest

from autograder.testing import house


@pytest.fixture(scope="module")
def everything():
    """Every module of course/, autograder/ and tests/ -> the modules of these that it imports."""
    return house.imports(house.modules("course", "autograder", "tests"))


@pytest.fixture(scope="module")
def graph(everything):
    """The modules of course/ and autograder/."""
    return {name: others for name, others in everything.items() if not name.startswith("tests")}


def test_no_imports_run_in_a_circle(graph):
    assert house.circles(graph) == []


def test_no_import_runs_from_a_lower_floor_to_a_higher_one(graph):
    assert house.upward_imports(graph) == []


def test_the_course_knows_nothing_of_the_autograder(graph):
    for name, others in graph.items():
        if name.startswith("course"):
            assert not [other for other in others if other.startswith("autograder")], name


def test_no_room_imports_a_test(graph):
    for name, others in graph.items():
        assert not [other for other in others if other.startswith("tests")], name


def test_tests_take_shared_helpers_from_the_testing_room_alone(everything):
    for name, others in everything.items():
        if not name.startswith("tests"):
            continue
        own = name.startswith("tests.autograder.bench")
        benches = [other for other in others if other.startswith("autograder.bench")]
        assert own or not benches, f"{name} imports {benches}"
        tests = [other for other in others if other.startswith("tests") and not name.startswith(f"{other}.")]
        assert not tests, f"{name} imports {tests}: what tests share belongs to autograder/testing"


def test_every_room_says_what_it_is_for():
    for name, path in house.modules("course", "autograder").items():
        assert path.read_text(encoding="utf-8").startswith('"""'), f"{name} begins without a docstring"


def test_no_module_outgrows_a_reader():
    too_large = {
        name: lines
        for name, path in house.modules("course", "autograder").items()
        if (lines := len(path.read_text(encoding="utf-8").splitlines())) > house.LINES and name not in house.LARGER
    }
    assert not too_large


def test_circles_and_upward_imports_are_found():
    graph = {
        "course.errors": {"course.spmd"},
        "course.spmd": {"course.errors"},
        "autograder.labs.build": {"autograder.commands.build", "course.spmd"},
        "autograder.commands.build": {"autograder.labs.build"},
    }
    assert house.circles(graph) == [
        ["autograder.commands.build", "autograder.labs.build"],
        ["course.errors", "course.spmd"],
    ]
    assert house.upward_imports(graph) == [
        ("autograder.labs.build", "autograder.commands.build"),
        ("course.errors", "course.spmd"),
    ]


def test_an_import_inside_a_function_and_one_by_a_short_name_count(tmp_path):
    folder = tmp_path / "course"
    folder.mkdir()
    (folder / "a.py").write_text("def f():\n    from course import board\n    import course.b\n")
    (folder / "b.py").write_text("")
    (folder / "competition").mkdir()
    (folder / "competition" / "client.py").write_text("from course.b import thing\n")
    names = house.modules("course", home=tmp_path)
    assert house.imports(names) == {
        "course.a": {"course.b", "course.competition.client"},
        "course.b": set(),
        "course.competition.client": {"course.b"},
    }


def test_a_module_without_a_floor_is_an_error():
    with pytest.raises(ValueError, match=r"autograder\.attic\.box stands on no floor"):
        house.floor_of("autograder.attic.box")
