"""What pages take from the labs, so that nothing is copied by hand.

Directives: `{minutes}` LAB, `{mistakes}` LAB, `{model-answer}` LAB NAME, `{course-glossary}`, `{pages}`, the table of
contents of a folder, and `{solution}`, the box around the solution of an exam question. Reads solutions/ alone.
"""

import re
from itertools import pairwise

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from autograder.labs import answers, glossary, source
from course.errors import Problem

TABLE = re.compile(r"\|[^\n]*\bminutes \|\n\|[-| ]+\|\n(?:\|.*\n?)+")
SOLUTION = re.compile(r"### BEGIN SOLUTION\n\s*(\S.*?)\n### END SOLUTION", re.DOTALL)


class Generated(SphinxDirective):
    """A directive that writes Markdown from a lab; a Problem becomes an error with the page and line."""

    def run(self):
        try:
            return self.make()
        except Problem as problem:
            raise self.error(str(problem)) from None

    def make(self):
        return self.parse_text_to_nodes(self.write(*self.arguments[0].split()))

    def read_lab(self, name):
        """The solved notebook of a lab; raises Problem where there is none."""
        path = source.SOLUTIONS / name / "lab.py"
        if not path.exists():
            raise Problem(f"there is no lab {name}; labs are named as in solutions/.")
        self.env.note_dependency(path)
        return source.read(path)


class Minutes(Generated):
    """`:::{minutes} 05-ring`: the lab's tables of steps with their minutes, and the sum of the core."""

    required_arguments = 1

    def write(self, name):
        text = "\n\n".join(cell.source for cell in self.read_lab(name).cells if cell.cell_type == "markdown")
        tables = [match.group().strip() for match in TABLE.finditer(text)]
        if not tables:
            raise Problem(f"lab {name} has no table that ends in a column `minutes`.")
        core = sum(map(float, re.findall(r"\|\s*([\d.]+)\s*\|$", tables[0], re.MULTILINE)))
        estimate = f"The core takes {core:g} minutes by the lab's own estimate, which counts two tries per task."
        return "\n\n".join([tables[0], estimate, *(f"Further steps:\n\n{table}" for table in tables[1:])])


class Mistakes(Generated):
    """`:::{mistakes} 05-ring`: one entry per task with its wrong answers and their hints."""

    required_arguments, final_argument_whitespace = 1, True

    def make(self):
        name = self.arguments[0]
        given, problems = answers.read_all(name, self.read_lab(name))
        if problems:
            raise Problem(problems[0])
        for path in answers.paths(name):
            self.env.note_dependency(path)
        by_task = {}
        for answer in given:
            if not answer.right:
                by_task.setdefault(answer.task, []).append(answer)
        order = [cell.id for cell in self.read_lab(name).cells]
        entries = nodes.definition_list(classes=["mistakes"])
        for task in sorted(by_task, key=order.index):
            entries += make_entry(task, by_task[task])
        total = sum(map(len, by_task.values()))
        first = (
            f"The course knows {total} wrong answers to the tasks of this lab, each a file in its folder `wrong`. "
            "Each line has the mistake, and words from the hint that a student who makes it gets."
        )
        return [*self.parse_text_to_nodes(first), entries]


def make_entry(task, wrong):
    """The entry of one task: its name and number of wrong answers, then one line per answer."""
    lines = nodes.bullet_list()
    for answer in wrong:
        mistake = answer.name.removeprefix("wrong/").removeprefix(f"{task}-").replace("-", " ")
        hint = [nodes.Text(f"{mistake}: “"), *make_text(answer.hint), nodes.Text("”")]
        lines += nodes.list_item("", nodes.paragraph("", "", *hint))
    title = [nodes.literal("", task), nodes.Text(f": {len(wrong)} wrong answer{'s' * (len(wrong) > 1)}")]
    return nodes.definition_list_item("", nodes.term("", "", *title), nodes.definition("", lines))


def make_text(hint):
    """Return the nodes of a hint, in which names of the code stand between backticks."""
    return [nodes.literal("", part) if number % 2 else nodes.Text(part) for number, part in enumerate(hint.split("`"))]


class ModelAnswer(Generated):
    """`:::{model-answer} 05-ring tree-or-ring`: the question as the lab asks it, and the lab's own answer."""

    required_arguments, final_argument_whitespace = 1, True

    def write(self, name, *answers):
        if len(answers) != 1:
            raise Problem("the directive takes the names of a lab and of one answer, as in `05-ring tree-or-ring`.")
        (answer,) = answers
        for before, cell in pairwise(self.read_lab(name).cells):
            if cell.id == answer and source.is_answer(cell):
                _, mark, question = before.source.partition("**Question")
                if not mark:
                    raise Problem(f"the cell above answer {answer} of lab {name} has no text after **Question.")
                question = mark + question
                quoted = "\n".join(f"> {line}" for line in question.splitlines())
                points = cell.metadata["nbgrader"]["points"]
                if not (solution := SOLUTION.search(cell.source)):
                    raise Problem(f"answer {answer} of lab {name} has no text between its two markers of a solution.")
                return f"{quoted}\n\n**Model answer** ({points:g} points).\n\n{solution[1]}"
        raise Problem(f"lab {name} has no written answer {answer}.")


class Glossary(Generated):
    """`:::{course-glossary}`: all entries of solutions/glossary.md, to which the role `term` links."""

    def make(self):
        path = source.SOLUTIONS / glossary.NAME
        self.env.note_dependency(path)
        entries = [f"{entry.term}\n  {entry.text} (Lab {entry.lab}.)\n" for entry in glossary.read(path)]
        return self.parse_text_to_nodes("````{glossary}\n" + "\n".join(entries) + "````")


class Pages(Generated):
    """`:::{pages} guide Instructor's guide`: the table of contents of a folder, nothing where it has no pages.

    Chapters are numbered, as the labs are.
    """

    required_arguments, final_argument_whitespace = 1, True

    def make(self):
        self.env.note_reread()
        folder, _, caption = self.arguments[0].partition(" ")
        if not any(name.startswith(f"{folder}/") for name in self.env.found_docs):
            return []
        options = f":caption: {caption}\n:maxdepth: 1\n:glob:" + "\n:numbered: 1" * (folder == "chapters")
        return self.parse_text_to_nodes(f"```{{toctree}}\n{options}\n\n{folder}/*\n```")


class Solution(SphinxDirective):
    """`:::{solution}`: a box with the solution of an exam question."""

    has_content = True

    def run(self):
        title = nodes.paragraph("", "Solution", classes=["box-title"])
        return [nodes.container("", title, *self.parse_content_to_nodes(), classes=["solution"])]


def setup(app):
    """Register the directives."""
    app.add_directive("minutes", Minutes)
    app.add_directive("mistakes", Mistakes)
    app.add_directive("model-answer", ModelAnswer)
    app.add_directive("course-glossary", Glossary)
    app.add_directive("pages", Pages)
    app.add_directive("solution", Solution)
