"""The text of quizzes and predictions becomes cells; what the text lacks is an error that names the question."""

import pytest

from autograder.authoring import judge
from autograder.labs import answers, build, source
from course.errors import Problem

HEAD = """\
# %%
# %load_ext course

"""
QUIZ = """\
# %% quiz opening points=1
# 1. On a quadratic with curvatures 1 and 4, from which learning rate on
#    does gradient descent diverge?
#    = 0.5
#    because it diverges above $2/\\lambda_{max}$,
#    which is 2/4.
# 2. Which call gives every rank the sum?
#    a) broadcast
#    b) gather
#    c) all-reduce
#    d) scatter
#    = c
#    because reduce gives it to one rank only.
"""
PREDICT = """\
# %% predict crossover
# At how many ranks does the ring
# become faster than the tree? Write a number.

# %% measure
from course.questions import outcome

outcome("crossover", 12)
"""


@pytest.fixture
def read(tmp_path):
    def read(content):
        path = tmp_path / "02-quiz" / "lab.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text(content)
        return source.read(path)

    return read


def test_a_quiz_becomes_questions_blanks_and_a_check_without_an_answer_in_clear(read):
    released = build.student_version("02-quiz", read(HEAD + QUIZ))
    text, task, check = released.cells[1:]
    assert "two questions" in text.source.lower() and "1. On a quadratic" in text.source
    assert "does gradient descent diverge?" in text.source and "   - c) all-reduce" in text.source
    assert task.source.splitlines()[1:] == ["opening = [", "    None,  # 1: a number", "    None,  # 2: a letter", "]"]
    assert source.is_task(task) and source.is_check(check) and check.metadata.nbgrader.points == 1
    everything = "\n".join(cell.source for cell in released.cells)
    assert "0.5" not in everything and "= c" not in everything and "one rank only" not in everything


def test_a_quiz_is_empty_when_untouched_and_passes_when_solved_in_both_ways(read):
    solution = read(HEAD + QUIZ)
    untouched = judge.untouched_version("02-quiz", solution)
    for way in judge.WAYS:
        run = judge.examine_lab(way, solution, untouched, [])
        assert "still empty" in run.untouched["opening-check"]
        assert judge.read_hints(run.solved) == {"opening-check": None}
        shown = [output.data["text/markdown"] for output in run.solved.cells[-1].outputs if "data" in output]
        assert way == "outside" or "✓ 1. 0.5. It diverges above $2/\\lambda_{max}$, which is 2/4." in shown[0]


def test_a_wrong_answer_to_a_quiz_earns_its_point_and_is_corrected(read):
    solution = read(HEAD + QUIZ)
    wrong = answers.Answer("wrong/guess", "opening", 'opening = [3, "a"]')
    run = judge.examine_lab("outside", solution, judge.untouched_version("02-quiz", solution), [wrong])
    assert run.answers["wrong/guess"] == {"opening-check": None}


def test_a_quiz_needs_no_wrong_answers(read):
    assert answers.find_gaps([], read(HEAD + QUIZ)) == []


def test_a_prediction_becomes_a_question_and_a_cell_that_is_not_graded(read):
    cells = read(HEAD + PREDICT).cells
    assert cells[1].source.startswith("**Your prediction.** At how many ranks does the ring become faster")
    assert 'predict("crossover", None)' in cells[2].source and source.is_measure(cells[2])
    assert cells[2].id == "crossover"


def test_a_line_that_is_one_word_and_a_question_mark_is_text(read):
    cells = read(HEAD + "# %% predict rest\n# How much of it is left after ten\n# epochs?\n").cells
    assert cells[1].source.endswith("left after ten epochs?")


def test_lines_of_cells_are_those_of_the_text(read, tmp_path):
    read(HEAD + QUIZ + "\n# %%\nlater = 1\n")
    lines = [line for line, _ in source.read_cells(tmp_path / "02-quiz" / "lab.py")]
    assert lines == [1, 4, 4, 4, 18]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (QUIZ.replace("#    = c\n", ""), "question 2 needs a line `= ANSWER`"),
        (QUIZ.replace("#    because reduce", "#    reduce"), "question 2 needs"),
        (QUIZ.replace("= 0.5", "= half"), "question 1 must be a number"),
        (QUIZ.replace("= c", "= e"), "the answer 'e'"),
        (QUIZ.replace("#    d) scatter\n", ""), "question 2 has 3 choices"),
        (QUIZ.replace("# 2. ", "# 3. "), "question 3 follows question 1"),
        (QUIZ.replace("# 1. ", "# "), "a quiz begins with"),
        (QUIZ.replace(" points=1", ""), "points=N"),
        (QUIZ + "x = 1\n", "comment lines"),
        ("# %% quiz opening points=1\n#\n", "at least one question"),
        (PREDICT.replace("crossover\n", "crossover points=1\n", 1), "not graded"),
        (PREDICT.replace("# become", "# = 3\n# become"), "has no answer"),
        ("# %% predict crossover\n#\n", "the question is missing"),
    ],
)
def test_what_a_quiz_or_prediction_lacks_is_a_problem_that_names_it(read, text, words):
    with pytest.raises(Problem, match=words):
        read(HEAD + text)
