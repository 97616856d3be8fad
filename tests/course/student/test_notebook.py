"""`%load_ext course` in a real kernel: what a student sees below a check cell, and what nbgrader reads there."""

import re
import subprocess
import sys
import time
from pathlib import Path

import nbclient
import nbformat
import pytest
from jupyter_client.manager import start_new_kernel
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from nbgrader.utils import determine_grade
from nbgrader.validator import Validator

from course.student.lab import build_environment

TASK = "def mean(xs):\n    return sum(xs) / (len(xs) + 1)"
EMPTY = "this task is still empty: replace this line by your own."
CHECK = "assert mean([2, 4]) == 3, f'divide by n, not by n + 1: expected 3, received {mean([2, 4])}'"


class Notebook:
    """A kernel to which cells are sent with their ids, as JupyterLab does."""

    def __init__(self, manager, client):
        self.manager, self.client = manager, client

    def start(self, source, cell_id=None):
        """Send a cell; returns the id of the request."""
        content = {"code": source, "silent": False, "store_history": True, "allow_stdin": False}
        metadata = {"cellId": cell_id} if cell_id else {}
        request = self.client.session.msg("execute_request", content, metadata=metadata)
        self.client.shell_channel.send(request)
        return request["header"]["msg_id"]

    def finish(self, request):
        """Wait for a cell that was sent; returns (status, outputs)."""
        outputs = []
        while True:
            message = self.client.get_iopub_msg(timeout=60)
            if message["parent_header"].get("msg_id") != request:
                continue
            if message["content"].get("execution_state") == "idle":
                break
            if message["header"]["msg_type"] in ("stream", "error", "execute_result", "display_data"):
                outputs.append({"type": message["header"]["msg_type"]} | message["content"])
        while True:  # a kernel that started slowly was asked more than once whether it is ready
            reply = self.client.get_shell_msg(timeout=60)
            if reply["parent_header"].get("msg_id") == request:
                return reply["content"]["status"], outputs

    def run(self, source, cell_id=None):
        return self.finish(self.start(source, cell_id))

    def read(self, source, cell_id=None):
        """Run a cell; returns all text below it."""
        return text(self.run(source, cell_id)[1])


def text(outputs):
    """All text of outputs, without its colours."""
    pieces = [
        {"stream": lambda o: o["text"], "error": lambda o: "\n".join(o["traceback"])}.get(
            output["type"], lambda o: o["data"]["text/plain"]
        )(output)
        for output in outputs
    ]
    return re.sub(r"\x1b\[[\d;]*m", "", "".join(pieces))


@pytest.fixture(scope="module")
def kernel(tmp_path_factory):
    manager, client = start_new_kernel(cwd=tmp_path_factory.mktemp("folder"))
    yield Notebook(manager, client)
    client.stop_channels()
    manager.shutdown_kernel(now=True)


@pytest.fixture
def notebook(kernel):
    kernel.run("%reset -f")
    kernel.run("%reload_ext course")
    return kernel


def test_importing_the_course_imports_nothing_else():
    program = "import sys; before = set(sys.modules); import course; print(sorted(set(sys.modules) - before))"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "['course']"


def test_numpy_imported_after_the_extension_uses_one_thread():
    program = """
import sys
from IPython.core.interactiveshell import InteractiveShell
InteractiveShell.instance().run_line_magic("load_ext", "course")
assert "numpy" not in sys.modules
import numpy
from threadpoolctl import threadpool_info
print([pool["num_threads"] for pool in threadpool_info() if pool["internal_api"] == "openblas"])
"""
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[1]"


def test_a_kernel_of_course_lab_shows_hints_before_any_cell_has_run(tmp_path, monkeypatch):
    monkeypatch.setenv("JUPYTER_PATH", build_environment("token")["JUPYTER_PATH"])
    notebook = Notebook(*start_new_kernel(cwd=tmp_path))
    try:
        assert notebook.read("assert False, 'a hint'", "first-check") == "✗ first failed: a hint"
        assert notebook.read("%load_ext course") == ""  # as the lab's first cell does
        assert notebook.read("'course' in dir(), 'notebook' in dir()") == "(False, False)"
    finally:
        notebook.client.stop_channels()
        notebook.manager.shutdown_kernel(now=True)


def test_a_failing_check_shows_its_hint_and_nothing_else(notebook):
    notebook.run(TASK, "mean")
    status, outputs = notebook.run(CHECK, "mean-check")
    assert status == "error"
    assert [output["type"] for output in outputs] == ["error"]
    assert outputs[0]["traceback"][0].startswith("\x1b[1;31m✗ mean failed\x1b[0m: ")
    assert text(outputs).splitlines() == ["✗ mean failed: divide by n, not by n + 1: expected 3, received 2.0"]
    assert outputs[0]["ename"] == "AssertionError"


def test_a_passing_check_says_so_once(notebook):
    notebook.run(TASK.replace(" + 1", ""), "mean")
    status, outputs = notebook.run(CHECK, "mean-check")
    assert (status, text(outputs)) == ("ok", "✓ mean passed.\n")


@pytest.fixture
def folder(notebook):
    """The folder of the kernel; its notebooks are gone at the end."""
    folder = Path(notebook.read("import os; os.getcwd()").strip("'"))
    yield folder
    for path in folder.glob("*.ipynb"):
        path.unlink()


def write_lab(path):
    """A lab of 6.5 points: the task mean with two checks, the task root with one, and a written answer."""

    def mark(name, cell=new_code_cell, **marks):
        marks = {"grade_id": name, "grade": False, "solution": False} | marks
        return cell(metadata={"nbgrader": marks})

    checks = [("mean", 1), ("mean-long", 2.5), ("root", 1)]
    cells = [mark(f"{name}-check", grade=True, points=points) for name, points in checks]
    answer = mark("why", new_markdown_cell, grade=True, solution=True, points=2)
    tasks = [mark(name, solution=True) for name in ("mean", "root")]
    nbformat.write(new_notebook(cells=[tasks[0], *cells[:2], tasks[1], cells[2], answer]), path)


def test_the_verdict_says_what_was_earned_and_what_is_left(notebook, folder):
    write_lab(folder / "07-means.ipynb")
    (folder / "08-broken.ipynb").write_text("{")
    passed = "assert True"
    line = "✓ mean passed: 1 point. Lab 7: 1 of 6.5 points, 0 of 2 tasks.\n"
    assert notebook.read(passed, "mean-check") == line
    assert notebook.read(passed, "mean-check") == line  # it counts once
    assert "✓ mean-long passed: 2.5 points. Lab 7: 3.5 of 6.5 points, 1 of 2 tasks." in notebook.read(
        passed, "mean-long-check"
    )
    assert notebook.read("assert False, 'no'", "mean-check") == "✗ mean failed: no"
    assert "Lab 7: 3.5 of 6.5 points, 1 of 2 tasks." in notebook.read(passed, "root-check")  # mean no longer counts


def test_marks_that_nbgrader_does_not_write_leave_the_verdict_without_points(notebook, folder):
    marks = {"grade_id": "mean-check", "grade": True, "points": "many"}
    nbformat.write(new_notebook(cells=[new_code_cell(metadata={"nbgrader": marks})]), folder / "01-a.ipynb")
    assert notebook.read("assert True", "mean-check") == "✓ mean passed.\n"


def test_an_assert_without_a_message_shows_itself(notebook):
    assert notebook.read("x = 1\nassert x == 2", "x-check") == "✗ x failed: this does not hold: assert x == 2"


def test_an_error_in_the_students_code_shows_its_place_and_no_frame_of_the_check(notebook):
    notebook.run("def inner(x):\n    y = 0\n    return x / y\n\ndef outer(x):\n    return inner(x)", "outer")
    output = notebook.read("secret = 7\nassert outer(secret) == 1", "outer-check")
    lines = output.splitlines()
    assert lines[0].startswith("✗ outer failed: the error is in `inner` (cell [")
    assert lines[0].endswith("line 3): return x / y")
    assert lines[1:3] == ["  Something is divided by 0.", "  ZeroDivisionError: division by zero"]
    assert lines[3].startswith("  called in `outer` (cell [") and lines[3].endswith("line 6): return inner(x)")
    assert len(lines) == 4
    assert "secret" not in output


def test_an_error_in_a_comprehension_is_shown_once_in_its_function(notebook):
    notebook.run("def mean(xs):\n    return [xs[i / 2] for i in range(2)]", "mean")
    lines = notebook.read(CHECK, "mean-check").splitlines()
    assert re.fullmatch(r"✗ mean failed: the error is in `mean` \(cell \[\d+\], line 2\): return .*", lines[0])
    assert "called" not in " ".join(lines)


def test_the_type_of_an_error_is_shown_without_its_module(notebook):
    notebook.run("import subprocess\ndef mean(xs):\n    subprocess.run('false', check=True)", "mean")
    assert "\n  CalledProcessError: Command" in notebook.read(CHECK, "mean-check")


def test_an_assert_in_the_students_code_is_shown_as_an_error_and_not_as_a_hint(notebook):
    notebook.run("def root(x):\n    assert x > 0, 'x must be positive'\n    return x ** .5", "root")
    output = notebook.read("assert root(-1) == 1, 'the hint'", "root-check")
    assert re.match(
        r"✗ root failed: the error is in `root` \(cell \[\d+\], line 2\): assert .*\n  AssertionError: x must be",
        output,
    )


def test_an_assert_in_a_function_of_the_check_that_the_student_calls_is_a_hint(notebook):
    notebook.run("def descend(gradient):\n    return gradient('a')", "descend")
    check = (
        "def slope(x):\n    assert not isinstance(x, str), 'call gradient with a number'\ndescend(slope)\nassert True"
    )
    assert notebook.read(check, "descend-check") == "✗ descend failed: call gradient with a number"


def test_a_local_variable_read_too_early_shows_the_error_of_python(notebook):
    notebook.run("def early():\n    total = total + 1\n    return total", "early")
    lines = notebook.read("assert early() == 1", "early-check").splitlines()
    assert lines[0].startswith("✗ early failed: the error is in `early`") and lines[0].endswith("total = total + 1")
    assert lines[1].startswith("  total is used before") and lines[2].startswith("  UnboundLocalError:")


def test_endless_recursion_shows_only_its_last_calls(notebook):
    notebook.run("def down(n):\n    return down(n + 1)", "down")
    lines = notebook.read("assert down(0) == 1", "down-check").splitlines()
    assert lines[0].startswith("✗ down failed: the error is in `down`")
    assert lines[1:3] == [
        "  The function calls itself and never stops.",
        "  RecursionError: maximum recursion depth exceeded",
    ]
    assert len(lines) == 5


def test_an_untouched_task_is_called_empty(notebook):
    notebook.run("def mean(xs):\n    # YOUR CODE HERE\n    raise NotImplementedError('still empty')", "mean")
    status, outputs = notebook.run(CHECK, "mean-check")
    assert status == "error"
    assert re.fullmatch(
        r"✗ mean failed: `mean` is still empty: in cell \[\d+\], replace the line `raise NotImplementedError\(...\)` "
        r"by your own and run the cell, then run this check\.",
        text(outputs),
    )


SPMD = "import numpy as np\nfrom course.spmd import spmd\n"
RUN = "from course.spmd import spmd\nspmd({}, ranks=2, carrier='simulated')\nassert True"


def test_an_untouched_task_that_ranks_run_is_called_empty(notebook):
    notebook.run(SPMD + f"def ring(comm):\n    # YOUR CODE HERE\n    raise NotImplementedError({EMPTY!r})", "ring")
    output = notebook.read(RUN.format("ring"), "ring-check")
    assert output.startswith("✗ ring failed: `ring` is still empty: complete") and len(output.splitlines()) == 1


def test_another_notimplementederror_is_shown_as_an_error(notebook):
    notebook.run("def mean(xs):\n    return abstract()\n\ndef abstract():\n    return int.from_bytes(1)", "mean")
    notebook.run("def mean(xs):\n    error = NotImplementedError('only for even sizes')\n    raise error", "mean")
    lines = notebook.read(CHECK, "mean-check").splitlines()
    assert lines[0].endswith("line 3): raise error") and lines[1] == "  NotImplementedError: only for even sizes"


CYCLE = "def cycle(comm):\n    comm.send(np.ones(3), dest=1 - comm.rank)"
FIRST_A_MESSAGE = "\n    comm.recv(np.ones(1)) if comm.rank else comm.send(np.ones(1), 1)\n"


def test_a_failed_run_says_the_cause_then_one_line_per_rank_and_shows_its_picture_below(notebook):
    notebook.run(SPMD + CYCLE.replace("\n", FIRST_A_MESSAGE), "cycle")
    status, outputs = notebook.run(RUN.format("cycle"), "cycle-check")
    assert (status, [output["type"] for output in outputs]) == ("error", ["error", "display_data"])
    assert 'alt="' in outputs[1]["data"]["text/html"]
    lines = text(outputs[:1]).splitlines()
    assert lines[0].startswith("✗ cycle failed: Ranks 0 and 1 all send and none of them receives")
    assert lines[1].startswith("  rank 0 waits for rank 1 to receive 3 × float64 (24 bytes, tag 0)")
    assert re.search(r"\(cell \d+, line 5 of `cycle`: `comm.send\(np.ones\(3\), dest=1 - comm.rank\)`\)$", lines[1])
    assert lines[3] == "  ring of waits: 0 → 1 → 0" and len(lines) == 5


CAPTURED = """from IPython.utils.capture import capture_output
with capture_output() as captured:
    try:
        spmd(cycle, ranks=2, carrier="simulated")
    except Exception:
        raised = True
print(captured.outputs, raised)"""


def test_a_failed_run_in_which_nothing_was_sent_shows_no_picture(notebook):
    notebook.run(SPMD + CYCLE, "cycle")
    status, outputs = notebook.run(RUN.format("cycle"), "cycle-check")
    assert (status, [output["type"] for output in outputs]) == ("error", ["error"])


def test_a_failed_run_draws_nothing_if_its_output_is_captured(notebook):
    notebook.run(SPMD + CYCLE.replace("\n", FIRST_A_MESSAGE), "cycle")
    assert text(notebook.run(CAPTURED)[1]).strip() == "[] True"


def test_a_task_that_was_not_run_is_named_by_the_line_that_defines_it(notebook):
    notebook.run("from nbformat.v4 import *; import nbformat")
    notebook.run(f"nbformat.write(new_notebook(cells=[new_code_cell({TASK!r})]), 'lab.ipynb')")
    output = notebook.read(CHECK, "mean-check")
    assert output == (
        "✗ mean failed: `mean` does not exist yet: complete and run the cell with `def mean(xs)`, then run this check."
    )
    assert "run the cells above" in notebook.read("assert nowhere == 1", "nowhere-check")


def test_a_check_says_that_its_tasks_cell_ended_with_an_error(notebook, folder):
    write_lab(folder / "07-means.ipynb")
    notebook.run(TASK, "mean")
    notebook.run("def mean(xs)\n    return sum(xs) / len(xs)", "mean")
    older = "the task's cell did not run (SyntaxError: expected ':'), so this check saw an older version."
    assert notebook.read(CHECK, "mean-check") == f"✗ mean failed: {older} Correct it and run it."
    assert notebook.read("assert mean([2, 4]) == 2", "mean-check").startswith(f"✗ mean failed: {older}")
    assert "older" not in notebook.read("assert True", "root-check")  # another task
    notebook.run(f"{TASK}\nmean(n)", "mean")
    stopped = "stopped at an error when it last ran (NameError: name 'n' is not defined). Correct it, and run it again."
    hint = "✗ mean failed: divide by n, not by n + 1: expected 3, received 2.0\n  The task's cell"
    assert notebook.read(CHECK, "mean-check") == f"{hint} {stopped}"
    assert f"\n  But the task's cell {stopped}" in notebook.read("assert True", "mean-check")
    notebook.run(TASK.replace(" + 1", ""), "mean")
    assert notebook.read(CHECK, "mean-check").count("\n") == 1


def test_a_problem_of_the_course_is_shown_in_its_own_words(notebook):
    notebook.run("from course.errors import Problem\ndef f():\n    raise Problem('rank 3 is missing: add it.')", "f")
    assert notebook.read("assert f() == 1", "f-check").startswith("✗ f failed: rank 3 is missing: add it.\n  in `f`")


def test_stderr_of_every_kind_and_a_last_value_cannot_reach_nbgrader(notebook):
    notebook.run("import sys, os, warnings, logging\nhandler = logging.StreamHandler()")
    status, outputs = notebook.run(
        "print('python', file=sys.stderr)\n"
        "warnings.warn('warned')\n"
        "handler.handle(logging.makeLogRecord({'msg': 'logged'}))\n"
        "os.write(2, b'bytes')\n"
        "os.system('echo child >&2')\n"
        "assert True\n"
        "0.5",
        "noise-check",
    )
    assert status == "ok"
    assert {(output["type"], output.get("name")) for output in outputs} == {("stream", "stdout")}
    for word in ["python", "warned", "logged", "✓ noise passed."]:
        assert word in text(outputs)


def test_after_a_check_everything_is_as_before(notebook):
    before = notebook.read("import os; os.fstat(2).st_ino, get_ipython().custom_exceptions")
    notebook.run("assert False, 'hint'", "a-check")
    assert notebook.read("import os; os.fstat(2).st_ino, get_ipython().custom_exceptions") == before
    outputs = notebook.run("import sys; print('to stderr', file=sys.stderr)\n0.5")[1]
    assert {output.get("name", output["type"]) for output in outputs} == {"stderr", "execute_result"}
    assert "Traceback" in notebook.read("1 / 0")


def test_a_rank_of_a_checks_loop_is_not_found_by_a_function_that_forgets_comm(notebook):
    notebook.run("def mean(xs):\n    return sum(xs) / len(xs) + rank", "mean")
    loop = "for rank in range(4):\n    assert mean([2]) == 2"
    for _ in range(2):
        assert "NameError: name 'rank' is not defined" in notebook.read(f"assert mean([2]) == 2\n{loop}", "mean-check")
        assert "✓ root passed" in notebook.read("for rank in range(4):\n    assert rank < 4", "root-check")
    notebook.run("rank = 7")
    notebook.run("for rank in range(4):\n    assert rank < 4", "root-check")
    assert notebook.read("rank") == "7"


def test_other_cells_are_left_alone(notebook):
    for cell_id in [None, "mean", "3f2a-4b"]:
        status, outputs = notebook.run("assert 1 == 2, 'plain'", cell_id)
        assert status == "error"
        assert "Traceback" in text(outputs)


def test_an_interrupted_check_says_where_it_stopped_and_leaves_nothing_behind(notebook):
    notebook.run("def spin():\n    while True:\n        open('spinning', 'w').close()", "spin")
    request = notebook.start("assert spin() == 1", "spin-check")
    wait_for(Path(f"/proc/{notebook.manager.provisioner.pid}/cwd/spinning").exists)
    notebook.manager.interrupt_kernel()
    status, outputs = notebook.finish(request)
    assert status == "error"
    assert text(outputs).startswith("✗ spin failed: stopped before it finished.\n  in `spin`")
    assert "Traceback" in notebook.read("1 / 0")


def wait_for(condition):
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline, "the condition never became true"
        time.sleep(0.02)


def make_check(source, grade_id, points=2):
    marks = {"grade_id": grade_id, "grade": True, "solution": False, "locked": True, "task": False, "points": points}
    return new_code_cell(source, id=grade_id, metadata={"nbgrader": marks | {"schema_version": 3, "cell_type": "code"}})


@pytest.fixture
def lab(tmp_path):
    """A notebook on disk: one check fails, one passes although the student's code is noisy."""
    noisy = (
        "import sys, os\ndef noisy():\n    print('oops', file=sys.stderr)\n    os.system('echo c >&2')\n    return 1"
    )
    path = tmp_path / "lab.ipynb"
    cells = [
        new_code_cell("%load_ext course"),
        new_code_cell(TASK),
        make_check(CHECK, "mean-check"),
        new_code_cell(noisy),
        make_check("assert noisy() == 1, 'hint'\n0.5", "noisy-check"),
    ]
    nbformat.write(new_notebook(cells=cells), path)
    return path


def test_nbgraders_validate_finds_exactly_the_failing_check_and_shows_its_hint(lab):
    failed = Validator().validate(str(lab))["failed"]
    assert [cell["source"] for cell in failed] == [CHECK]
    error = re.sub("<[^>]*>", "", failed[0]["error"])  # the colours are HTML there
    assert error == "✗ mean failed: divide by n, not by n + 1: expected 3, received 2.0"


def test_nbgrader_gives_a_check_all_points_or_none(lab):
    notebook = nbformat.read(lab, as_version=4)
    client = nbclient.NotebookClient(notebook, allow_errors=True, resources={"metadata": {"path": str(lab.parent)}})
    client.execute()
    grades = [determine_grade(cell) for cell in notebook.cells if "nbgrader" in cell.metadata]
    assert grades == [(0, 2.0), (2.0, 2.0)]


def test_without_the_extension_the_same_noise_costs_all_points(lab):
    notebook = nbformat.read(lab, as_version=4)
    del notebook.cells[0]
    nbclient.NotebookClient(notebook, allow_errors=True, resources={"metadata": {"path": str(lab.parent)}}).execute()
    assert determine_grade(notebook.cells[-1]) == (0, 2.0)
