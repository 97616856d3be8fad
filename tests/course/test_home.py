"""Where the student's folder is."""

import pytest

from course import home
from course.errors import Problem


def test_the_students_folder_is_work_in_the_course_or_the_folder_that_the_variable_names(tmp_path, monkeypatch):
    monkeypatch.delenv("COURSE_WORK", raising=False)
    assert home.find_work() == home.HOME / "work" and home.find_work(tmp_path) == tmp_path / "work"
    monkeypatch.setenv("COURSE_WORK", str(tmp_path / "mine"))
    assert home.find_work() == home.find_work(tmp_path) == tmp_path / "mine"


def test_the_variable_names_one_folder_wherever_a_program_runs(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    for value, folder in (("mine", home.HOME / "mine"), ("~/mine", tmp_path / "mine")):
        monkeypatch.setenv("COURSE_WORK", value)
        for place in (home.HOME, tmp_path):
            monkeypatch.chdir(place)
            assert home.find_work() == folder
    monkeypatch.setenv("COURSE_WORK", "~nobody-of-this-name/mine")
    with pytest.raises(Problem, match="there is no such home folder"):
        home.find_work()
