"""The bench of mutants, on a lab of its own."""

import pytest

from autograder.bench import mutants as bench
from autograder.labs import answers, build
from course.errors import Problem

EXPLAINED = """
[[equivalent]]
reason = "Nobody reads this number."
mutants = [
    "right/average-unused | average | unused = 1 | unused = 2",
    "right/average-unused | average | unused = 1 | unused = 3",
]
"""


@pytest.mark.long
def test_the_bench_lists_the_mutants_that_survive_and_the_explanations_that_are_outdated(scratch, course, monkeypatch):
    course("new", "10-toy")
    lab = scratch / "solutions" / "10-toy"
    body = "# task: average\ndef average(gradients, counts):\n    unused = 1\n"
    body += "    return np.average(gradients, axis=0, weights=counts)\n"
    (lab / "right" / "average-unused.py").write_text(body)
    with (lab / "equivalent.toml").open("a") as file:
        file.write(EXPLAINED)
    monkeypatch.setenv("BENCH_MUTANTS_LABS", "10")
    (row,) = bench.rows()
    unused = "right/average-unused | average | unused = 1 | "
    assert row["survivors"] == [unused + "pass", unused + "unused = 0"]
    assert row["equivalent"] == 3 and row["outdated"] == [unused + "unused = 3"]
    assert row["mutants"] == row["caught"] + 5 > 20 and not bench.summary([row])["met"]
    (lab / "right" / "average-unused.py").write_text(body.replace("axis=0", "axis=1"))
    with pytest.raises(Problem, match="average-unused loses average-check"):
        list(bench.rows())


@pytest.mark.long
def test_a_mutant_that_is_out_of_time_since_the_machine_became_busier_is_judged_again(scratch, course, monkeypatch):
    course("new", "10-toy")
    name, source = "right/average-pause", "def average(gradients, counts):\n    import time\n    time.sleep(0.1)\n"
    source += "    return np.average(gradients, axis=0, weights=counts)\n"
    seconds = [-bench.LEAST_SECONDS / bench.TIMES]  # at first the answer seems to need no time at all

    def time_answer(*args):
        return seconds.pop() if seconds else real(*args)

    real = bench.time_answer
    monkeypatch.setattr(bench, "time_answer", time_answer)
    judged = bench.judge_mutants(build.solved("10-toy"), [answers.Answer(name, "average", source, right=True)])
    assert {mutant.after for _, mutant, hint in judged if hint is None} == {"pass"} and not seconds


@pytest.mark.parametrize("text", ["[[equivalent]]\nmutants = []", "[[mutant]]\nreason = 'none'", "equivalent = 3", "?"])
def test_an_explanation_without_a_reason_is_one_sentence(scratch, text):
    (scratch / "solutions" / "10-toy").mkdir()
    (scratch / "solutions" / "10-toy" / "equivalent.toml").write_text(text)
    with pytest.raises(Problem, match="needs a reason and a list"):
        bench.read_equivalents("10-toy")
