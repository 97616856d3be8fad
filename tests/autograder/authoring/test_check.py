"""`course check`: one line where all is well, else one line per problem, each with its place."""

import pytest

from autograder.authoring import check, conventions
from autograder.examination.kernel import KernelLost
from autograder.labs import build, source

BROKEN_PICTURE = """
# %% measure
import matplotlib.pyplot as plt

plt.plot([1, 2])
plt.show()

# %% measure
import sys

print("careful", file=sys.stderr)

# %% [markdown]
# ## Step 2. Two questions
"""


@pytest.fixture
def toy(scratch, course):
    """A new lab; a function that replaces text in one of its files."""
    assert course("new", "10-toy")[0] == 0

    def change(file, old, new):
        path = scratch / "solutions" / "10-toy" / file
        text = path.read_text() if path.exists() else old
        assert old in text
        path.write_text(text.replace(old, new))

    return change


def test_a_new_lab_is_fine_in_one_line_and_is_built(scratch, course, toy):
    status, output, _ = course("check", "10-toy")
    assert (status, len(output)) == (0, 1), output
    assert output[0].startswith(
        "10-toy is fine: 2 tasks, 2 checks with 3 points, 5 wrong and 1 right answer, 1 picture. It"
    )
    assert (source.LABS / "10-toy" / "10-toy.ipynb").exists() and (source.LABS / "index.ipynb").exists()


def test_every_problem_is_one_line_and_a_malformed_answer_fails_alone(scratch, course, toy, monkeypatch):
    toy("wrong/average-plain-mean.py", "# hint: Weight each one", "# hint: Weigh each one")
    toy("wrong/average-not-divided.py", "# task: average\n", "")
    toy("wrong/average-typo.py", "", "# task: avverage\n# loses: average-check\n# hint: x\n")
    toy("right/average-numpy.py", "weights=counts", "weights=None")
    toy("lab.toml", "points = 3", "points = 4")
    toy("lab.toml", "replace.average", "replace.avverage")
    toy("lab.py", "\n# %% [markdown]\n# ## Step 2. Two questions\n", BROKEN_PICTURE)
    toy("lab.py", "# %load_ext course\n", "")
    toy("lab.py", 'hand_in.button("10-toy")', 'hand_in.button("09-toy")')
    monkeypatch.setattr(check, "SECONDS", 0)
    status, output, _ = course("check", "10-toy")
    text = "\n".join(output)
    assert status == 1
    for words in [
        "average-not-divided.py: the first lines must be `# task: …`, `# loses: …`, `# hint: …`, in this order.",
        "average-typo.py: the lab has no task avverage with a check",
        "wrong/average-plain-mean gets no hint with 'Weigh each one by its number of examples'. Messages: ['5 is the",
        "right/average-numpy loses average-check instead of nothing. Messages: ['5 is the plain mean",
        "lab.toml: [hand-ins.full] has points = 4, but the checks give 3 in all.",
        "lab.toml: [hand-ins.syntax] names avverage, which is not a cell of the lab.",
        "lab.py: the first code cell must begin with `# %load_ext course`",
        'the last cell must be `measure hand-in` with `hand_in.button("10-toy")`',
        "a picture has no text twin: return a plot of course.plots.",
        "the cell prints to stderr: careful",
        "opening-check does not say that it passed.",
        "average-check does not say that it passed.",
        "the solved lab takes",
    ]:
        assert text.count(words) == 1, (words, text)
    assert len(output) == 13, text


@pytest.mark.long
def test_a_solution_that_fails_and_a_check_that_asks_for_nothing_are_found(scratch, course, toy):
    toy("lab.py", "return total / sum(counts)", "return total / len(counts)")
    toy(
        "lab.py",
        "\n# %% [markdown]\n# How wrong",
        "\n# %% check average-none points=1\nassert True\n\n# %% [markdown]\n# How",
    )
    status, output, _ = course("check", "10-toy")
    text = "\n".join(output)
    assert status == 1
    assert "the solution loses average-check. Messages: you divided by the number of ranks, 2." in text
    assert "average-none-check passes in the untouched lab" in text
    assert "no wrong answer loses average-none-check" in text


def test_a_secret_that_students_can_read_is_found(scratch, toy):
    def find_leaks():
        solution = build.solved("10-toy")
        built = build.build_lab("10-toy", solution) | build.build_index()
        build.write(built, built)
        return conventions.find_leaks("10-toy", solution)

    assert find_leaks() == []
    secret = "total = sum(n * g for n, g in zip(counts, gradients, strict=True))"
    index = scratch / "solutions" / "index.py"
    index.write_text(index.read_text() + f"\n# %% measure\n{secret}\n")
    assert find_leaks() == [f"a line of a solution or a hidden test reaches students: {secret}"]
    toy("lab.py", "first = np.arange(1, 100)", f"counts, gradients = [1], [2]\n{secret}\nfirst = np.arange(1, 100)")
    assert find_leaks() == [], "a line that the lab itself gives is no secret"


def test_one_task_is_judged_alone(scratch, course, toy):
    toy("wrong/average-plain-mean.py", "# hint: Weight each one", "# hint: Weigh each one")
    toy("wrong/other-malformed.py", "", "nothing")
    status, output, _ = course("check", "10-toy", "--task", "average")
    assert (status, len(output)) == (1, 1) and "gets no hint with 'Weigh each one" in output[0]
    toy("wrong/average-plain-mean.py", "# hint: Weigh each one", "# hint: Weight each one")
    status, output, _ = course("check", "10-toy", "--task", "average")
    assert status == 0 and output[0].startswith("average of 10-toy is fine: 5 wrong and 1 right answer, judged in")


def test_an_unknown_task_a_broken_text_and_an_unknown_lab_are_said_in_one_line(scratch, course, toy):
    for name in ("10-toy", "10"):
        status, output, error = course("check", name, "--task", "averages")
        assert status == 1 and output == [] and "10-toy has no task averages with a check; its tasks" in error
    toy("lab.py", "# %% check average points=2", "# %% chek average points=2")
    status, output, _ = course("check", "10-toy")
    assert (status, len(output)) == (1, 1) and output[0].startswith("10-toy/lab.py, line 59: 'chek average'")
    status, output, _ = course("check", "11-toy")
    assert (status, len(output)) == (1, 1) and "there is no lab 11-toy" in output[0]


def test_a_kernel_that_cannot_be_kept_is_one_problem_and_the_others_are_still_listed(scratch, course, toy, monkeypatch):
    def lose(*_):
        raise KernelLost("the kernel did not start")

    monkeypatch.setattr(check.judge, "examine_lab", lose)
    toy("wrong/average-not-divided.py", "# task: average\n", "")
    status, output, _ = course("check", "10-toy")
    assert (status, len(output)) == (1, 2) and "could not be run to its end: the kernel did not start" in output[1]
