"""Makes the cells of quizzes and predictions from their text in a lab, `# %% quiz NAME` and `# %% predict NAME`.

A quiz becomes a text with the questions, a task with one None per question, and a check that holds the answers sealed
(course/questions.py). A prediction becomes a text and a cell that is not graded. Works on texts: reads, writes and runs
nothing. solutions/README.md shows how both are written.
"""

import re
import textwrap
from dataclasses import dataclass, field

from nbformat.v4 import new_code_cell, new_markdown_cell

from course.errors import Problem
from course.questions import EXACT, LETTERS, seal

NUMBERS = ("", "One question", "Two questions", "Three questions", "Four questions", "Five questions")
WIDTH = 100  # characters of a line that holds sealed answers
QUESTION_WORD = re.compile(r"\S+\?")  # jupytext takes "# epochs?" for IPython's help and removes its "# "
ITEMS = {  # how a line begins -> what it begins
    "question": r"(?P<number>\d+)\. (?P<text>.+)",
    "choice": r"(?P<letter>[a-z])\) (?P<text>.+)",
    "answer": r"= (?P<text>.+)",
    "reason": r"because (?P<text>.+)",
}


@dataclass
class Question:
    """One question: its parts as text; `answer` is "" in a prediction, and `choices` {} where a number is asked for."""

    text: str = ""
    choices: dict = field(default_factory=dict)  # letter -> text
    answer: str = ""
    reason: str = ""

    def to_markdown(self):
        """The question as students read it."""
        return self.text + "".join(f"\n   - {letter}) {text}" for letter, text in self.choices.items())

    def to_sealed(self, number):
        """The dict that `course.questions.seal` encodes. Raises Problem where the answer does not fit the question."""
        if not self.answer or not self.reason:
            raise Problem(f"question {number} needs a line `= ANSWER` and a line `because REASON`.")
        if self.choices:
            if self.answer not in self.choices:
                raise Problem(f"question {number} has the choices a to d, but the answer {self.answer!r}.")
            return {"answer": self.answer, "reason": self.reason}
        value, _, tolerance = self.answer.partition("+-")
        try:
            value = float(value)
            tolerance = float(tolerance) if tolerance else EXACT * abs(value)
        except ValueError:
            raise Problem(f"the answer of question {number} must be a number, or `NUMBER +- TOLERANCE`.") from None
        return {"answer": value, "tolerance": tolerance, "reason": self.reason}


def expand(cell):
    """Return the cells, with titles, that stand for a quiz or a prediction; any other cell alone. Raises Problem."""
    title = cell.metadata.get("title") or ""
    kind, _, name = title.partition(" ")
    if cell.cell_type != "code" or kind not in ("quiz", "predict") or not re.fullmatch(r"[\w-]+", name):
        return [cell]
    points = cell.metadata.get("points")
    questions = parse(cell.source, has_answers=kind == "quiz")
    if kind == "predict":
        return make_prediction(name, questions, points)
    return make_quiz(name, questions, points)


def make_quiz(name, questions, points):
    """The three cells of a quiz."""
    variable = name.replace("-", "_")
    sealed = [question.to_sealed(number) for number, question in enumerate(questions, 1)]
    kinds = ["a letter" if question.choices else "a number" for question in questions]
    count = NUMBERS[len(questions)] if len(questions) < len(NUMBERS) else f"{len(questions)} questions"
    text = [
        f"### {count} from memory",
        "Answer without looking anything up. You get the point for having tried them all. The check then shows what is "
        "right, and why.",
        "\n".join(f"{number}. {question.to_markdown()}" for number, question in enumerate(questions, 1)),
    ]
    blanks = "".join(f"    None,  # {number}: {kind}\n" for number, kind in enumerate(kinds, 1))
    right = ", ".join(repr(each["answer"]) for each in sealed)
    task = (
        f'# Replace each None by a number, or by "a", "b", "c" or "d". Then run this cell and the check.\n'
        f"{variable} = [\n{blanks}]\n### BEGIN SOLUTION\n{variable} = [{right}]\n### END SOLUTION"
    )
    lines = "\n".join(f'    "{line}"' for line in textwrap.wrap(seal(sealed), WIDTH))
    check = f"from course.questions import mark_quiz\n\nsealed = (\n{lines}\n)\nassert mark_quiz(sealed, {variable})"
    return [
        new_markdown_cell("\n\n".join(text)),
        new_code_cell(task, metadata={"title": f"task {name}", "quiz": True}),
        new_code_cell(check, metadata={"title": f"check {name}", "points": points}),
    ]


def make_prediction(name, questions, points):
    """The two cells of a prediction."""
    if points is not None:
        raise Problem("a prediction is not graded: leave points=N out.")
    (question,) = questions
    if question.answer or question.reason:
        raise Problem("a prediction has no answer: a measure cell shows it, with `outcome(NAME, value)`.")
    asked = 'one of the letters "a" to "d", in quotes' if question.choices else "a number"
    return [
        new_markdown_cell(f"**Your prediction.** {question.to_markdown()}"),
        new_code_cell(
            f"# Replace None by {asked}, then run this cell. It is not graded.\n"
            f'from course.questions import predict\n\npredict("{name}", None)',
            metadata={"title": f"measure {name}"},
        ),
    ]


def parse(content, has_answers):
    """Read the Questions in the comment lines of a cell; of a prediction, which has no numbers, the only one."""
    questions = [] if has_answers else [Question()]
    put = None if has_answers else ("text", "")
    for line in content.splitlines():
        if line.strip() and not line.startswith("#") and not QUESTION_WORD.fullmatch(line):
            raise Problem(f"a quiz or prediction consists of comment lines; this is none: {line}")
        indented = line.removeprefix("#")
        text = indented.strip()
        kind, match = find_item(text)
        if not text:
            continue
        if kind == "question" and has_answers:
            if int(match["number"]) != len(questions) + 1:
                raise Problem(f"question {match['number']} follows question {len(questions)}: number them in order.")
            questions.append(Question(match["text"]))
            put = ("text", "")
        elif not questions:
            raise Problem(f"a quiz begins with `# 1. QUESTION`, not with: {text}")
        elif kind == "choice" and match["letter"] in LETTERS[len(questions[-1].choices) :][:1]:
            questions[-1].choices[match["letter"]] = match["text"]
            put = ("choices", match["letter"])
        elif kind in ("answer", "reason") and not getattr(questions[-1], kind):
            setattr(questions[-1], kind, match["text"])
            put = (kind, "")
        else:
            add(questions[-1], put, text)
    for number, question in enumerate(questions, 1):
        if not question.text:
            raise Problem("the question is missing.")
        if question.choices and len(question.choices) != len(LETTERS):
            raise Problem(f"question {number} has {len(question.choices)} choices; four are needed, a) to d).")
        if question.reason:
            question.reason = question.reason[0].upper() + question.reason[1:]
    if not questions:
        raise Problem("a quiz has at least one question: `# 1. QUESTION`.")
    return questions


def find_item(text):
    """(kind, match) of the item that a line begins, (None, None) where it continues one."""
    for kind, pattern in ITEMS.items():
        if match := re.fullmatch(pattern, text):
            return kind, match
    return None, None


def add(question, put, text):
    """Append a line that continues the part `put` of a question."""
    part, letter = put
    if part == "choices":
        question.choices[letter] += f" {text}"
    else:
        setattr(question, part, f"{getattr(question, part)} {text}".strip())
