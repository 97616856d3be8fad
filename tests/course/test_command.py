"""The command `course`: its subcommands, and how it reports that something is wrong."""

import subprocess
import sys
from pathlib import Path

import pytest

from autograder.testing.mini_course import make_environment, write_mini_course
from course import command
from course.errors import Problem


class Example:
    """Do an example.

    Details that only a reader of the code needs.
    """

    @staticmethod
    def add_arguments(parser):
        parser.add_argument("answer")

    @staticmethod
    def run(args):
        if args.answer == "problem":
            raise Problem("the example is broken: fix it.")
        if args.answer == "stop":
            raise KeyboardInterrupt
        return int(args.answer)


@pytest.fixture
def example(monkeypatch):
    monkeypatch.setattr(command, "subcommands", lambda wanted: {"example": Example})


@pytest.mark.parametrize(("answer", "status", "message"), [
    ("0", 0, ""),
    ("3", 3, ""),
    ("problem", 1, "course example: the example is broken: fix it.\n"),
    ("stop", 130, "\ncourse example: stopped.\n"),
])  # fmt: skip
def test_a_subcommand_ends_with_its_status_and_a_problem_with_one_sentence(example, capsys, answer, status, message):
    assert command.main(["example", answer]) == status
    assert capsys.readouterr() == ("", message)


def test_help_is_the_first_line_of_each_docstring(example, capsys):
    with pytest.raises(SystemExit):
        command.main(["--help"])
    output = capsys.readouterr().out
    assert "Do an example." in output
    assert "only a reader" not in output


def test_the_instructor_has_all_subcommands():
    assert set(command.subcommands()) >= {"lab", "hand-in", "doctor", "build", "release", "grade", "bench", "board"}


def test_without_the_grader_there_are_the_students_subcommands_alone(tmp_path):
    # The entry points of what is installed here name the grader too, as in what students receive.
    home = write_mini_course(tmp_path / "home")
    program = (
        "import sys, importlib.util as util; find = util.find_spec;"
        "util.find_spec = lambda name, *rest: None if name == 'autograder' else find(name, *rest);"
        "from course import command; print(*command.subcommands())"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=home,
        env=make_environment(home),
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == ["doctor", "hand-in", "lab"]


def test_a_subcommand_imports_no_other():
    program = 'import sys; from course import command; command.main(["doctor", "--help"])'
    counted = f'import atexit, sys; atexit.register(lambda: print("nbgrader" in sys.modules)); {program}'
    done = subprocess.run([sys.executable, "-c", counted], capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout.splitlines()[-1] == "False"


def test_windows_is_told_to_use_wsl(example, monkeypatch, capsys):
    monkeypatch.setattr(sys, "platform", "win32")
    assert command.main(["example", "0"]) == 1
    assert "Install WSL" in capsys.readouterr().err
    root = Path(__file__).parents[2]
    made = subprocess.run(["make", "lab", "OS=Windows_NT"], capture_output=True, text=True, cwd=root)
    assert made.returncode and "Install WSL" in made.stderr
