"""A class owns its paths and its configuration; what is known of a hand-in reaches nbgrader by arguments alone."""

import copy
import shutil

import pytest
from sqlalchemy import text

from autograder.examination import pool
from autograder.gradebook import classroom, grading
from autograder.intake import collect, reading, tidy
from autograder.intake.tries import HandIn
from autograder.labs import source
from autograder.testing.mini_lab import LAB, MINI, put, read_scores
from course.errors import Problem


@pytest.fixture
def class_(released, tmp_path, monkeypatch):
    """A class to which the small lab has been released."""
    monkeypatch.setattr(source, "SOLUTIONS", MINI)
    return classroom.Classroom(shutil.copytree(released, tmp_path / "class"))


def make_record(*failed):
    """Make the record of an examination in which these checks failed."""
    outputs = {
        name: [{"output_type": "error", "ename": "CheckFailed", "evalue": "no", "traceback": []}] for name in failed
    }
    return {"cells": outputs, "remarks": ["A remark."], "unsafe": True, "seconds": 1.0, "cpu_seconds": 1.0}


def test_a_class_made_by_an_earlier_version_gets_the_present_import_and_a_note(tmp_path):
    folder = tmp_path / "class"
    folder.mkdir()
    old = classroom.CONFIG.replace(classroom.IMPORT, classroom.OLD_IMPORT) + "c.Examine.cell_seconds = 12\n"
    (folder / "nbgrader_config.py").write_text(old)
    room = classroom.Classroom(folder)
    assert (folder / "nbgrader_config.py").read_text() == old.replace(classroom.OLD_IMPORT, classroom.IMPORT)
    (note,) = room.notes
    assert note.startswith("nbgrader_config.py: ") and classroom.OLD_IMPORT in note and classroom.IMPORT in note
    assert room.cell_seconds == 12 and classroom.Classroom(folder).notes == []


def test_only_one_course_grade_at_a_time_writes_into_a_class(class_):
    with (
        class_.alone(),
        pytest.raises(Problem, match="another `course grade` is at work"),
        classroom.Classroom(class_.root).alone(),
    ):
        pass
    with pytest.raises(ZeroDivisionError), class_.alone():
        raise ZeroDivisionError
    with class_.alone():
        pass


def test_a_record_reaches_the_gradebook_and_no_configuration_is_changed(class_, mini, monkeypatch):
    monkeypatch.setattr("autograder.gradebook.preprocessors.examine_apart", None)  # nothing is run
    before = copy.deepcopy(class_.config), copy.deepcopy(class_.coursedir.config)
    for student, failed in [("ann", []), ("bob", ["add-check"])]:
        submitted = collect.bring_in(HandIn(student, LAB, mini.hand_in(), ["It is odd."]), class_)
        notebook, _ = tidy.tidy(submitted, class_.read_lab(LAB))
        untouched = copy.deepcopy(notebook)
        class_.autograde(student, LAB, {LAB: (notebook, make_record(*failed))})
        assert notebook == untouched
    assert class_.read_points("ann", LAB) == (5, 0, 7, 0) and class_.read_points("bob", LAB)[0] == 3
    graded, _ = reading.read_hand_in(class_.autograded("bob", LAB))
    assert {cell.metadata.nbgrader.grade_id for cell in graded.cells if source.is_check(cell)} == set(
        source.tasks_of_checks(mini.release.cells)
    )
    assert (class_.config, class_.coursedir.config) == before


def test_a_hand_in_is_parsed_once_and_tidied_once_on_its_way_to_a_grade(class_, mini, tmp_path, monkeypatch):
    put(tmp_path / "in", "ann", mini.hand_in())
    put(tmp_path / "in", "bob", mini.hand_in(add="def add(x, y): return x - y"))
    calls = {"parsed": [], "tidied": 0}
    read, arrange = reading.read_hand_in, tidy.tidy

    def read_and_count(path):
        calls["parsed"].append(path)
        return read(path)

    def tidy_and_count(notebook, lab):
        calls["tidied"] += 1
        return arrange(notebook, lab)

    def examine(notebooks, *_):
        for key, notebook in notebooks.items():
            yield key, make_record(*["add-check"] * any("x - y" in cell.source for cell in notebook.cells))

    monkeypatch.setattr(reading, "read_hand_in", read_and_count)
    monkeypatch.setattr(tidy, "tidy", tidy_and_count)
    monkeypatch.setattr(pool, "records", examine)
    result = grading.grade(tmp_path / "in", class_.root, unsafe=True)
    assert [outcome.remarks for outcome in result.outcomes] == [["A remark."], ["A remark."]]
    assert read_scores(class_.root) == {"ann": 5, "bob": 3}
    assert len(calls["parsed"]) == len(set(calls["parsed"])) == calls["tidied"] == 2


def test_a_longer_limit_for_cells_reaches_the_examination_and_hand_ins_are_examined_anew(
    class_, mini, tmp_path, monkeypatch
):
    put(tmp_path / "in", "ann", mini.hand_in())
    limits = []

    def examine(notebooks, unsafe, workers, profile, cell_seconds, files):
        limits.extend(cell_seconds for _ in notebooks)
        return ((key, make_record()) for key in notebooks)

    monkeypatch.setattr(pool, "records", examine)
    for line in ("", "", "c.Examine.cell_seconds = 77\n"):
        with class_.configuration.open("a") as file:
            file.write(line)
        grading.grade(tmp_path / "in", class_.root, unsafe=True)
    assert limits == [30, 77]


def test_a_path_that_is_a_file_cannot_be_a_class(tmp_path):
    (tmp_path / "class").write_text("")
    with pytest.raises(Problem, match="--class takes the folder of a class"):
        classroom.Classroom(tmp_path / "class")


def test_a_new_gradebook_has_nbgraders_present_revision_and_one_that_is_there_stays(tmp_path, monkeypatch):
    monkeypatch.setattr("nbgrader.api.get_alembic_version", None)  # which would start a process
    for _ in range(2):
        room = classroom.Classroom(tmp_path / "class")
        with room.gradebook() as book:
            (revision,) = book.db.execute(text("SELECT version_num FROM alembic_version")).scalars()
            assert revision and book.update_or_create_student("ann").id == "ann"


@pytest.mark.parametrize("line", ["", "c.CourseDirectory.db_url = 'nonsense'\n"])
def test_a_gradebook_that_cannot_be_opened_is_one_sentence(tmp_path, line):
    room = classroom.Classroom(tmp_path / "class")
    room.database.write_bytes(b"no database, " * 100)
    room.configuration.write_text(classroom.CONFIG + line)
    with pytest.raises(Problem, match=r"the gradebook of .* cannot be opened .*: correct CourseDirectory.db_url"):
        classroom.Classroom(tmp_path / "class")
