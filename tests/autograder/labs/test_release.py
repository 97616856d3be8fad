"""`course release`: what students receive, tried as a student tries it."""

import functools
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from autograder.labs import build, release, source
from autograder.testing.mini_course import make_environment
from course import command
from course.home import HOME
from course.student import identity

SECRET = [source.SOLUTION[0], source.HIDDEN[0]]


@pytest.fixture(scope="module", autouse=True)
def built_once():
    """All releases of these tests share one build of the labs, which does not change meanwhile."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(build, "build_all", functools.cache(build.build_all))
        yield


@pytest.fixture(scope="module")
def students(tmp_path_factory):
    """A release of this clone."""
    folder = tmp_path_factory.mktemp("students")
    assert command.main(["release", str(folder)]) == 0
    return folder


def names(folder):
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def test_students_receive_the_course_and_nothing_of_the_instructors(students):
    received = names(students)
    assert {"README.md", "Makefile", "pyproject.toml", "labs/index.ipynb"} <= received
    assert {"requirements.txt", "requirements-spark.txt"} <= received
    assert {"course/student/lab.py", "labs/01-regression/01-regression.ipynb"} <= received
    instructors = {"solutions", "autograder", "book", "tests", ".ci", "work"}
    assert not [name for name in received if name.split("/")[0] in instructors]
    assert not [name for name in received if "__pycache__" in name or name.startswith((".git/", ".venv/"))]


def test_the_readme_is_the_students_and_names_no_command_of_the_instructors(students):
    text = (students / "README.md").read_text()
    assert "make lab" in text and "course hand-in" in text
    assert not [word for word in ("course grade", "course release", "make test", "solutions") if word in text]
    named = set(re.findall(r"`(LICENSE[-a-z]*)`", text))
    assert named and all((students / name).exists() for name in named)


def test_no_marker_of_a_solution_or_of_a_hidden_test_is_received(students):
    for path in students.rglob("*"):
        if path.is_file():
            found = [marker for marker in SECRET if marker.encode() in path.read_bytes()]
            assert not found, path


def test_a_release_is_renewed_and_the_students_own_files_in_it_stay(tmp_path):
    folder = tmp_path / "students"
    assert command.main(["release", str(folder)]) == 0
    for name in ["work/01-regression/01-regression.ipynb", ".venv/made", "notes.txt"]:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("mine")
    (folder / "README.md").write_text("old")
    release.write([*release.list_files(HOME)], [Path("course/gone.py")], folder, {})
    (folder / "course" / "gone.py").write_text("a module that the course no longer has")
    release.write(release.list_files(HOME), [Path("course/gone.py"), *release.list_files(HOME)], folder, {})
    assert command.main(["release", str(folder)]) == 0
    assert (folder / "README.md").read_bytes() == release.README.read_bytes()
    assert not (folder / "course" / "gone.py").exists()
    for name in ["work/01-regression/01-regression.ipynb", ".venv/made", "notes.txt"]:
        assert (folder / name).read_text() == "mine"


def test_a_folder_that_holds_something_else_is_left_alone(tmp_path, capsys):
    (tmp_path / "thesis.tex").write_text("mine")
    assert command.main(["release", str(tmp_path)]) == 1
    assert "is neither empty nor an earlier release" in capsys.readouterr().err
    assert names(tmp_path) == {"thesis.tex"}
    assert command.main(["release", str(HOME / "students")]) == 1
    assert "lies inside the course itself" in capsys.readouterr().err


def test_labs_that_are_out_of_step_are_not_released(tmp_path, monkeypatch, capsys):
    built = build.build_all()
    monkeypatch.setattr(build, "build_all", lambda: built | {source.LABS / "index.ipynb": b"another"})
    assert command.main(["release", str(tmp_path / "students")]) == 1
    assert "labs/ is not what solutions/ gives (labs/index.ipynb)" in capsys.readouterr().err
    assert not (tmp_path / "students").exists()


def test_the_tests_are_said_to_be_elsewhere(students):
    done = subprocess.run(["make", "test"], cwd=students, capture_output=True, text=True)
    assert done.returncode != 0
    assert "The tests are in the instructor's clone" in done.stderr


@pytest.mark.long
def test_make_lab_works_there(students):
    """With this environment in the place of one that would take a minute to install."""
    venv = students / ".venv"
    if not venv.exists():
        venv.symlink_to(sys.prefix)
    log = students / "out"
    with log.open("w") as out:
        # The parts of `make lab` after the environment is there, from the Makefile itself.
        process = subprocess.Popen(
            ["make", "lab", "READY=yes", "HOROVOD=no"], cwd=students, env=make_environment(students),
            stdout=out, stderr=out, start_new_session=True,
        )  # fmt: skip
    try:
        deadline = time.monotonic() + 60
        while "token=" not in log.read_text() and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.05)
        assert re.search(r"JupyterLab: http://127\.0\.0\.1:\d+/lab/tree/index\.ipynb\?token=\w+", log.read_text())
    finally:
        os.killpg(process.pid, signal.SIGINT)  # as the terminal does on Ctrl-C: make and `course lab` get it
        process.wait(60)
        venv.unlink()
    assert (students / "work" / "index.ipynb").read_bytes() == (students / "labs" / "index.ipynb").read_bytes()
    assert "Traceback" not in log.read_text()


def test_the_address_to_send_hand_ins_to_is_part_of_a_release_and_of_later_ones(tmp_path):
    folder = str(tmp_path / "students")
    for words, address in [
        ([], ""),
        (["--send-to", "ada@uni.example"], "ada@uni.example"),
        ([], "ada@uni.example"),
        (["--send-to", ""], ""),
    ]:
        assert command.main(["release", folder, *words]) == 0
        assert identity.read_address(tmp_path / "students") == address
    assert identity.ADDRESS not in names(tmp_path / "students")
