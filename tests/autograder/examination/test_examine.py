"""Student code inside a kernel, checks outside: every check ends in time, and code earns what it is worth."""

import copy
import pickle

import psutil
import pytest

from autograder.authoring import judge
from autograder.examination import examine
from autograder.examination.examiner import Examiner, examine_apart
from autograder.examination.kernel import Kernel
from autograder.labs import source

FULL = {"add-check": None, "descend-check": None}


@pytest.fixture
def examined(mini):
    """Examine a hand-in with these sources: (hints, remarks); a short limit keeps hangs short."""

    def run(**sources):
        notebook, _ = mini.graded(mini.hand_in(**sources))
        remarks = examine.examine(notebook, cell_seconds=4)["remarks"]
        return judge.read_hints(notebook), remarks

    return run


def test_a_solved_lab_passes_and_cells_for_show_are_skipped(mini):
    notebook, _ = mini.graded(mini.hand_in())
    assert examine.examine(notebook)["remarks"] == [] and judge.read_hints(notebook) == FULL
    measure = next(cell for cell in notebook.cells if source.is_measure(cell))
    assert measure.outputs == []


def test_one_of_the_labs_own_cells_may_take_longer_than_a_students_cell(mini):
    notebook, _ = mini.graded(mini.hand_in())
    given = next(cell for cell in notebook.cells if source.is_given(cell))
    given.source += "\nimport time\ntime.sleep(2)"
    notebook.cells = [given]
    assert examine.examine(notebook, cell_seconds=1)["remarks"] == []


@pytest.mark.parametrize(
    ("add", "words"),
    [
        ("def add(x, y): return x - y", "add(1, 2) is 3"),
        ("def add(x, y): return 1 / 0", "your code raised ZeroDivisionError: division by zero (line 1 of `add`"),
        ("def add(x y):", "`add` is not defined"),
        ("", "`add` is not defined"),
        ("add = 3", "TypeError"),
        ("def add(x, y): return None", "add(1, 2) is 3"),
        ("def add(x, y): return 'three'", "add(1, 2) is 3"),
        ("def add(x, y):\n    while True: pass", "did not finish within 4 seconds"),
        ("while True: pass", "`add` is not defined"),
        ("import os\ndef add(x, y): os._exit(3)", "ended the notebook's kernel"),
        ("import os\nos._exit(3)", "`add` is not defined"),
        ("import os, signal\ndef add(x, y): os.kill(os.getpid(), signal.SIGSEGV)", "ended the notebook's kernel"),
        ("import sys\ndef add(x, y): sys.exit()", "SystemExit"),
        ("def add(x, y): return [[]] * 2_000_000", "more than a million parts"),
        ("def add(x, y):\n    a = []\n    a.append(a)\n    return a", "nested too deeply"),
        ("def add(x, y): raise KeyboardInterrupt", "did not finish"),
        ("def add(x, y): raise AssertionError('mine')", "your code raised AssertionError: mine"),
        ("def add(x, y):\n    print('x' * 5_000_000)\n    return x - y", "add(1, 2) is 3"),
        ("def add(x, y): return input()", "EOFError"),
        (
            "class Same:\n    __eq__ = lambda s, o: True\n    __hash__ = None\ndef add(x, y): return Same()",
            "yours gives <a Same>",
        ),
        ("import numpy as np\nnp.allclose = lambda *a: True\ndef add(x, y): return 4", "add(1, 2) is 3"),
        ("get_ipython().ast_transformers.append(None)\ndef add(x, y): return 4", "add(1, 2) is 3"),
    ],
)  # fmt: skip
def test_a_wrong_answer_of_any_kind_loses_only_its_own_check_and_gets_a_hint(examined, add, words):
    hints, _ = examined(add=add)
    assert words in (hints["add-check"] or ""), hints
    assert hints["descend-check"] is None


@pytest.mark.long
def test_code_that_ignores_being_interrupted_costs_only_its_own_check(examined):
    stubborn = """import time
def add(x, y):
    while True:
        try:
            time.sleep(100)
        except KeyboardInterrupt:
            pass"""
    hints, remarks = examined(add=stubborn)
    assert "ended the notebook's kernel" in hints["add-check"] and hints["descend-check"] is None
    assert any("ran in a new one" in remark for remark in remarks)


LOOPS = """number = add(1, 2)
for _ in range(number):
    pass
assert number == 3"""
CALLED = """def called(number):
    for _ in range(number):
        pass
    return 0
assert descend(called, 1.0, 5) == 1"""


@pytest.mark.long
@pytest.mark.parametrize("check", [LOOPS, LOOPS.replace("pass", "try:\n        [][1]\n    except Exception: pass")])
def test_a_check_that_would_never_end_is_ended_and_costs_no_other_check(mini, check):
    notebook, _ = mini.graded(mini.hand_in(add="def add(x, y): return 10**15"))
    cell = next(cell for cell in notebook.cells if cell.id == "add-check")
    cell.source = check
    examine.examine(notebook, cell_seconds=3)
    hints = judge.read_hints(notebook)
    assert "is a number or a length far too large?" in hints["add-check"] and hints["descend-check"] is None


def test_a_function_of_the_checks_that_never_ends_is_ended(mini):
    notebook, _ = mini.graded(mini.hand_in(descend="def descend(gradient, theta, steps): return gradient(10**15)"))
    cell = next(cell for cell in notebook.cells if cell.id == "descend-check")
    cell.source = CALLED
    examine.examine(notebook, cell_seconds=3)
    assert "within 3 seconds" in judge.read_hints(notebook)["descend-check"]
    assert judge.read_hints(notebook)["add-check"] is None


def test_a_check_that_takes_its_process_with_it_costs_no_other_check(mini):
    notebook, _ = mini.graded(mini.hand_in())
    cell = next(cell for cell in notebook.cells if cell.id == "add-check")
    cell.source = "import os, signal\nassert add(1, 2) == 3\nos.kill(os.getpid(), signal.SIGVTALRM)"
    record = examine_apart(notebook, unsafe=False)
    assert "far too large" in record["cells"]["add-check"][0]["evalue"] and record["cells"]["descend-check"] == []
    assert len(record["remarks"]) == 1


def test_an_exception_that_would_end_a_loop_of_the_checks_ends_the_check(mini):
    notebook, _ = mini.graded(mini.hand_in(add="def add(x, y):\n    raise StopIteration"))
    cell = next(cell for cell in notebook.cells if cell.id == "add-check")
    cell.source = "assert all(map(lambda x: add(x, x) == 2 * x, range(5)))"
    examine.examine(notebook)
    assert "your code raised StopIteration" in judge.read_hints(notebook)["add-check"]


def test_warnings_and_prints_of_student_code_cost_nothing(examined):
    loud = """import sys, warnings
def add(x, y):
    warnings.warn('w')
    print('e', file=sys.stderr)
    return x + y"""
    assert examined(add=loud)[0] == FULL


def test_a_check_calls_the_functions_it_passes_in_and_counts_them_itself(examined):
    twice = """def descend(gradient, theta, steps):
    for _ in range(steps):
        gradient(theta)
        theta = theta - 0.1 * gradient(theta)
    return theta"""
    assert "yours made 10" in examined(descend=twice)[0]["descend-check"]


def test_an_examination_leaves_no_process_behind(mini):
    before = set(psutil.pids())
    started = "import subprocess\nchild = subprocess.Popen(['sleep', '1005'], start_new_session=True)\n"
    notebook, _ = mini.graded(mini.hand_in(add=started + mini.work["add"]))
    examine.examine(notebook)
    left = [
        p
        for p in psutil.process_iter(["pid", "cmdline"])
        if p.pid not in before and "sleep" in (p.info["cmdline"] or [])
    ]
    assert not [p for p in left if p.status() != psutil.STATUS_ZOMBIE and "1005" in p.cmdline()]


def test_each_hand_in_gets_a_fresh_kernel(examined):
    examined(add="import builtins\nbuiltins.leak = 1\ndef add(x, y): return x + y")
    hints, _ = examined(add="import builtins\ndef add(x, y): return x + y if not hasattr(builtins, 'leak') else 0")
    assert hints == FULL


def test_the_outputs_of_a_cell_are_bounded():
    with Kernel() as kernel:
        outputs = kernel.run("for _ in range(3000): print('y' * 10_000)", 60)
        assert sum(len(output.text) for output in outputs) < 1_000_000
        assert "left out" in outputs[-1].text


def test_kernels_that_are_under_way_together_take_one_thread_each():
    with Kernel() as kernel:
        (output,) = kernel.run(
            "import os; print(os.environ['OPENBLAS_NUM_THREADS'], os.environ['OMP_NUM_THREADS'])", 30
        )
    assert output.text == "1 1\n"


def test_engines_of_a_notebook_that_does_not_name_torch_do_without_it_until_it_is_imported(mini):
    notebook, _ = mini.graded(mini.hand_in())
    assert not examine.uses_torch(notebook)
    measure = next(cell for cell in notebook.cells if source.is_measure(cell))
    measure.source += "\nimport torch"
    assert not examine.uses_torch(notebook), "it is not run"
    imported = "print('imported', engines.map_sync(lambda _: 'torch' in __import__('sys').modules, [0]))"
    used = "print('sums', engines.map_sync(lambda _: float(__import__('torch').ones(2).sum()), [0]))"
    with Kernel(settings={"COURSE_PREFORK_TORCH": "no"}) as kernel:
        kernel.run("from course import cluster\nengines = cluster.start(1)", 60)
        assert kernel.run(imported, 60)[-1].text == "imported [False]\n"
        assert kernel.run(used, 60)[-1].text == "sums [2.0]\n"


def test_only_cells_that_are_run_are_sent_to_the_examiner_and_the_notebook_stays_as_it_was(mini, monkeypatch):
    notebook, _ = mini.graded(mini.hand_in(add="def add(x, y): return 10**15"))
    cell = next(cell for cell in notebook.cells if cell.id == "add-check")
    cell.source = "import os\nos._exit(7)"
    before, sent, send = copy.deepcopy(notebook), [], Examiner.examine
    monkeypatch.setattr(Examiner, "examine", lambda self, cells, *rest: sent.append(cells) or send(self, cells, *rest))
    record = examine_apart(notebook, unsafe=False)
    assert notebook == before and "could not finish" in record["cells"]["add-check"][0]["evalue"]
    assert {cell.id for cell in sent[0]} == {cell.id for cell in notebook.cells if examine.is_run(cell)}
    assert all(cell.keys() == {"id", "cell_type", "source", "metadata"} for cell in sent[0])


def test_the_limit_of_a_cell_reaches_the_examiners_process(mini):
    notebook, _ = mini.graded(mini.hand_in(add="while True: pass"))
    record = examine_apart(notebook, unsafe=False, cell_seconds=2)
    assert record["remarks"] == ["add: stopped after 2 seconds."] and record["seconds"] < 100


def test_a_notebook_travels_to_an_engine_as_an_object(mini):
    notebook, _ = mini.graded(mini.hand_in())
    arrived = pickle.loads(pickle.dumps(notebook))
    assert arrived == notebook and type(arrived.cells[0]) is type(notebook.cells[0])


def test_a_check_inside_the_kernel_fails_although_the_notebook_shows_no_errors(mini):
    silent = "import IPython\nIPython.core.interactiveshell.InteractiveShell.showtraceback = lambda *_, **__: None\n"
    notebook, _ = mini.graded(mini.hand_in(add=f"{silent}def add(x, y): return x - y"))
    cell = next(cell for cell in notebook.cells if cell.id == "add-check")
    cell.metadata[source.INSIDE] = True
    record = examine_apart(notebook, unsafe=False)
    assert [output["output_type"] for output in record["cells"]["add-check"]] == ["error"]
    assert record["cells"]["descend-check"] == []


def test_a_check_inside_the_kernel_gives_part_of_its_points_and_never_more_than_all(mini):
    notebook, _ = mini.graded(mini.hand_in())
    for name, points in (("add-check", "0.5"), ("descend-check", "50")):
        cell = next(cell for cell in notebook.cells if cell.id == name)
        cell.source, cell.metadata[source.INSIDE] = points, True
    record = examine_apart(notebook, unsafe=False)
    assert record["cells"]["add-check"][0]["data"] == {"text/plain": "0.5"}
    assert "the check gave 50 of " in record["cells"]["descend-check"][0]["evalue"]


def test_a_notebook_finds_the_files_that_lie_beside_it(mini):
    reads = "open('a/b.txt', 'rb').read() == b'\\x00data'"
    notebook, _ = mini.graded(mini.hand_in(add=f"def add(x, y): return x + y if {reads} else 0"))
    files = {"a/b.txt": b"\x00data", "empty": b""}
    assert examine_apart(notebook, unsafe=False, files=files)["cells"]["add-check"] == []
