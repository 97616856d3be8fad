"""`spmd` in a check that runs outside: it means the student's ranks, and its results are ordinary values."""

import pytest

from autograder.examination.checks import run_check
from autograder.examination.kernel import Kernel

GIVEN = '''
import numpy as np
from course.spmd import spmd


def ring(comm, x):
    """Each rank sends to the next and returns what the one before sent."""
    got = np.empty_like(x)
    return comm.sendrecv(x, (comm.rank + 1) % comm.size, recvbuf=got, source=(comm.rank - 1) % comm.size)


def cycle(comm, x):
    got = np.empty_like(x)
    comm.send(x, dest=(comm.rank + 1) % comm.size)
    return comm.recv(got, source=(comm.rank - 1) % comm.size)


def broken(comm, x):
    if comm.rank == 2:
        return 1 / 0
    return ring(comm, x)


def empty(comm, x):
    raise NotImplementedError("still empty")


def busiest(trace):
    return int(trace.bytes_sent.argmax())


class Box:
    def __init__(self, x):
        self.x = x


def boxed(comm, x):
    return Box(comm.rank + x)


def tensors(comm, x):
    import torch
    return torch.full((2,), comm.rank + 0.5, requires_grad=comm.rank == 1)


def lazy(comm, x):
    return x


def doubled(comm, x):
    return x * 2


def number(comm):
    return comm.rank


reached = []


def through_a_global(comm, x):
    comm.barrier()
    reached.append(comm.rank)
    comm.barrier()
    return sorted(set(reached))
'''


@pytest.fixture(scope="module")
def kernel():
    with Kernel() as kernel:
        kernel.run(GIVEN + "import torch", 120)  # here, since it takes long on a busy machine
        yield kernel


@pytest.fixture
def hint(kernel):
    """Run a check outside: its hint, None where it passes."""
    return lambda check: run_check("import numpy as np\n" + check, kernel, 30)


XS = "xs = [np.full(3, float(r)) for r in range(4)]\n"
RUN = "from course.spmd import spmd\n" + XS + 'run = spmd({}, xs, carrier="simulated")\n'


def test_a_run_comes_back_as_a_list_with_its_trace(hint):
    check = """
assert [got[0] for got in run] == [3, 0, 1, 2] and len(list(run)) == 4
assert run[0].shape == (3,) and run[-1][0] == 2
assert run.trace.bytes_sent[2] == 24 and run.trace.bytes_sent.sum() == 96
assert run.trace.steps.max() == 1 and run.trace.link_messages[3, 0] == 1
assert run.trace.carrier == "simulated" and len(run.trace.messages) == 4
"""
    assert hint(RUN.format("ring") + check) is None


@pytest.mark.parametrize(
    "words",
    [
        "from course import spmd, plots; run = spmd.spmd(ring, xs, carrier='simulated'); plots.curves",
        "from course import comm; network = comm.Simulated(alpha=1.0)",
        "from course.comm import Simulated; network = Simulated(alpha=1.0)",
        "from course.comm.simulated import Simulated as S; network = S(alpha=1.0)",
        "import course.comm.simulated as s; network = s.Simulated(alpha=1.0)",
    ],
)
def test_the_names_mean_the_students_kernel_however_they_are_imported(hint, words):
    check = "from course.spmd import spmd\n" + XS + words
    if "network" in words:
        check += "\nrun = spmd(ring, xs, carrier=network)\nassert run.trace.alpha == 1.0 and run.trace.seconds > 1"
    assert hint(check + "\nassert run[0][0] == 3") is None


def test_faults_travel_in_a_list_and_the_error_can_be_expected(hint):
    check = (
        XS
        + """
from course.comm import Drop
from course.spmd import RunFailed, spmd
from course.errors import Problem

try:
    spmd(ring, xs, carrier="simulated", faults=[Drop(source=0, dest=1)])
    raise AssertionError("should have failed")
except RunFailed as failed:
    assert isinstance(failed, Problem)
    assert str(failed).startswith("The message from rank 0 to rank 1"), str(failed)
    assert failed.report.cause == str(failed).splitlines()[0] and len(failed.report.lines) == 4
    assert failed.trace.bytes_sent[0] == 0 and failed.trace.bytes_sent[2] == 24
"""
    )
    assert hint(check) is None


def test_the_hint_on_a_failed_run_is_its_root_cause_and_one_line_per_rank(hint):
    first, *lines = hint(RUN.format("broken") + "assert True").splitlines()
    assert first.startswith("Rank 2 raised ZeroDivisionError: division by zero (line 19 of `broken`: `return 1 / 0`")
    assert lines[0].startswith("  rank 0 ") and lines[3].startswith("  rank 3 ")


def test_the_hint_on_a_circle_of_sends_names_the_circle(hint):
    text = hint(RUN.format("cycle") + "assert True").splitlines()
    assert text[0].startswith("Ranks 0, 1, 2 and 3 all send and none of them receives")
    assert text[-2] == "  ring of waits: 0 → 1 → 2 → 3 → 0"
    assert text[-1] == "  run: cycle(comm, …) on 4 ranks, carrier simulated"


def test_the_hint_on_an_empty_task_says_that_it_is_empty(hint):
    assert hint(RUN.format("empty") + "assert True") == "this task is still empty."


def test_the_hint_on_a_wrong_call_is_the_courses_own_message(hint):
    text = hint("from course.spmd import spmd\nspmd(ring, [1, 2], ranks=3, carrier='simulated')")
    assert text == "argument 1 after the function has 2 entries, and there are 3 ranks. Pass one entry per rank."


def test_results_that_are_not_plain_can_be_asked_for_their_parts(hint):
    assert hint(RUN.replace("xs, c", "[1, 2], c").format("boxed") + "assert [b.x for b in run] == [1, 3]") is None


def test_tensors_arrive_as_tensors_and_go_to_the_student_as_such(hint):
    check = """
import torch
assert np.asarray(run[3], dtype=float).tolist() == [3.5, 3.5]
assert torch.equal(run[1].detach(), torch.full((2,), 1.5)) and run[1].requires_grad and not run[0].requires_grad
ones = spmd(doubled, [torch.full((2,), r, dtype=torch.bfloat16) for r in range(2)], carrier="simulated")
assert ones[1].dtype == torch.bfloat16 and ones[1].tolist() == [2, 2]
"""
    assert hint(RUN.format("tensors") + check) is None


def test_a_trace_goes_back_to_a_function_of_the_students(hint):
    assert hint(RUN.format("ring") + "assert busiest(run.trace) == 0") is None


def test_a_function_of_the_checks_runs_on_every_simulated_rank(hint):
    check = (
        XS
        + """
from course.spmd import spmd

seen = []

def program(comm, x):
    seen.append(comm.rank)
    got = ring(comm, x)
    comm.barrier()
    return float(got[0]) + 10 * comm.rank

run = spmd(program, xs, carrier="simulated")
assert sorted(seen) == [0, 1, 2, 3]
assert list(run) == [3, 10, 21, 32], list(run)
"""
    )
    assert hint(check) is None


def test_an_error_of_the_students_passes_unchanged_through_a_function_of_the_checks(hint):
    check = XS + (
        "from course.spmd import spmd\n"
        "def program(comm, x):\n    return broken(comm, x)\n"
        'run = spmd(program, xs, carrier="simulated")'
    )
    assert hint(check).startswith("Rank 2 raised ZeroDivisionError: division by zero (line 19 of `broken`")


def test_an_assert_in_a_function_of_the_checks_is_the_hint(hint):
    check = XS + (
        "from course.spmd import spmd\n"
        "def program(comm, x):\n    assert comm.rank < 2, f'rank {comm.rank} is too much'\n    return ring(comm, x)\n"
        'run = spmd(program, xs, carrier="simulated")'
    )
    assert hint(check) == "rank 2 is too much"


def test_a_function_of_the_students_gets_one_of_the_checks_that_calls_it_back(kernel, hint):
    kernel.run("def apply(f, box):\n    return f(box) + 1", 10)
    check = "def look(box):\n    return box.x * 2\nassert apply(look, Box(4)) == 9"
    assert hint(check) is None


FORGED = {
    "no run": "course.spmd.spmd = lambda *args, **kwargs: 3",
    "another run": "course.spmd.spmd = lambda *args, **kwargs: real_spmd(doubled, *args[1:], **kwargs)",
    "no trace": "course.spmd._run_simulated = lambda *args: ([], [1] * 4, {'bytes_sent': 5}, False)",
    "a part missing": "Trace.to_plain = lambda self: {'ranks': 4, 'link_bytes': self.link_bytes}",
    "other shapes": "Trace.to_plain = lambda self: {**real(self), 'bytes_sent': np.zeros(10**6, np.int64)}",
    "other data": "course.data.load = lambda name: {}",
}


@pytest.fixture
def forged(kernel):
    """Run a cell that forges the course in the kernel, which is put right afterwards."""
    kernel.run(
        "import sys\nimport course.spmd, course.data\nfrom course.comm.trace import Trace\n"
        "real, real_spmd, modules = Trace.to_plain, course.spmd.spmd, dict(sys.modules)\n"
        "given = {module: dict(vars(module)) for module in (course.spmd, course.data)}",
        30,
    )
    yield lambda forgery: kernel.run(forgery, 10)
    kernel.run(
        "sys.modules.update(modules)\nTrace.to_plain = real\nfor each in given: vars(each).update(given[each])", 10
    )


@pytest.mark.parametrize("forgery", FORGED.values(), ids=FORGED)
def test_the_course_that_a_check_uses_cannot_be_forged_in_the_kernel(forged, hint, forgery):
    forged(forgery)
    check = "from course import data\nimport course.data\nassert len(data.load('engel')['income']) == 235\n"
    assert hint(check + "assert len(course.data.load('engel')['income']) == 235") is None
    assert hint(RUN.format("ring") + "assert run[0][0] == 3 and run.trace.bytes_sent[2] == 24") is None


ENGINES = """
from course import cluster
from course.spmd import spmd

engines = cluster.start(2)
xs = [np.full(3, float(r)) for r in range(2)]
"""


def test_a_run_on_engines_is_counted_here_as_well(hint):
    check = ENGINES + "run = spmd(ring, xs)\nassert run[0][2] == 1 and run.trace.bytes_sent[1] == 24\n"
    check += "assert spmd(number) == [0, 1], 'as many ranks as engines'\n"
    assert hint(check + "assert run.trace.carrier == 'local' and run.trace.alpha is None") is None


def test_what_ranks_on_engines_share_by_a_global_is_each_ranks_own(hint):
    assert hint(ENGINES + "run = spmd(through_a_global, xs)\nassert run[0] == [0] and run[1] == [1], run") is None
    assert hint(ENGINES + "assert spmd(through_a_global, xs, carrier='simulated')[1] == [0, 1]") is None


def test_a_function_that_does_nothing_does_nothing_on_engines_whatever_the_kernel_says(forged, hint):
    forged("course.spmd.spmd = lambda function, *args, **options: real_spmd(ring, *args, **options)")
    assert hint(ENGINES + "run = spmd(lazy, xs)\nassert run[0][2] == 1, 'it does nothing'") == "it does nothing"


def test_the_hint_on_a_run_that_failed_on_engines_is_its_root_cause_and_the_next_run_is_as_ever(hint):
    text = hint(ENGINES + "spmd(cycle, xs)").splitlines()
    assert text[0].startswith("Ranks 0 and 1 all send and none of them receives")
    assert "line 13 of `cycle`: `comm.send(x, dest=(comm.rank + 1) % comm.size)`" in text[1], text[1]
    assert hint(ENGINES + "assert spmd(ring, xs)[0][2] == 1") is None


def test_the_hint_on_a_task_that_is_empty_on_engines_says_so_too(hint):
    assert hint(ENGINES + "spmd(empty, xs)") == "this task is still empty."


@pytest.mark.parametrize("carrier", ["local", pytest.param("torch", marks=pytest.mark.long)])
def test_the_hint_on_a_function_of_the_checks_for_engines_says_that_it_cannot_go_there(hint, carrier):
    text = hint(ENGINES + f"def program(comm, x):\n    return x\nspmd(program, xs, carrier={carrier!r})")
    assert text.startswith("`program`") and "cannot be sent to an engine" in text and "\n" not in text


def test_engines_that_a_check_passes_on_are_the_students(kernel, hint):
    kernel.run("def how_many(engines):\n    return len(engines)", 10)
    assert hint(ENGINES + "assert how_many(engines) == 2 and len(engines) == 2") is None
    (output,) = kernel.run("from course import cluster\nprint(len(cluster.running()))\ncluster.stop()", 60)
    assert output.text.startswith("2")


TORCH = """
import torch
import torch.distributed as dist


def averaged(comm, x):
    dist.init_process_group("gloo", init_method="spmd://")
    x = torch.tensor(x)
    dist.all_reduce(x)
    return (x / comm.size).numpy()


def alone(comm, x):
    return x


def skips(comm, x):
    dist.init_process_group("gloo", init_method="spmd://")
    if comm.rank == 0:
        dist.all_reduce(torch.tensor(x))
    return x


class Replaces:
    # where it is unpickled, it replaces `spmd`

    def __reduce__(self):
        return exec, ("import course.spmd; course.spmd.spmd = lambda *args, **options: [[0.5]] * 2",)


def brings(comm, x, what=Replaces()):
    return x
"""
MEANS = "got = spmd({}, xs, ranks=2, carrier='torch', timeout=30)\nassert all(x[0] == 0.5 for x in got), 'no mean'"


@pytest.fixture(scope="module")
def torch_kernel(kernel):
    kernel.run(TORCH, 60)
    return kernel


@pytest.mark.long
def test_a_run_by_torch_is_on_the_graders_engines(torch_kernel, forged, hint):
    assert hint(ENGINES + MEANS.format("averaged")) is None
    forged("course.spmd.spmd = lambda function, *args, **options: real_spmd(averaged, *args, **options)")
    assert hint(ENGINES + MEANS.format("alone")) == "no mean"
    forged("import course.cluster\ncourse.cluster.start = course.cluster.running = None")
    assert hint(ENGINES + MEANS.format("averaged")) is None


@pytest.mark.long
def test_only_engines_unpickle_what_a_student_wrote(torch_kernel, hint):
    assert hint(ENGINES + MEANS.format("brings")) == "no mean"
    assert hint(ENGINES + MEANS.format("alone")) == "no mean"


@pytest.mark.long
def test_the_hint_on_a_run_by_torch_names_the_lines_of_the_students_cell(torch_kernel, hint):
    text = hint(ENGINES + MEANS.format("skips").replace("timeout=30", "timeout=10"))
    assert text.startswith("Rank 1 has returned, and rank 0 was waiting in a torch.distributed call")
    assert "(line 19 of `skips`: `dist.all_reduce(torch.tensor(x))`)" in text, text
