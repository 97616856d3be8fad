"""Where the student's folder is."""

from course import home


def test_the_students_folder_is_work_in_the_course_or_the_folder_that_the_variable_names(tmp_path, monkeypatch):
    monkeypatch.delenv("COURSE_WORK", raising=False)
    assert home.find_work() == home.HOME / "work" and home.find_work(tmp_path) == tmp_path / "work"
    monkeypatch.setenv("COURSE_WORK", str(tmp_path / "mine"))
    assert home.find_work() == home.find_work(tmp_path) == tmp_path / "mine"
