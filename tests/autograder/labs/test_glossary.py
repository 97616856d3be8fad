"""The glossary: its entries, its page, and links from labs, which stand in text only."""

import re

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from autograder.labs import build, glossary, source
from course.errors import Problem

TEXT = """# Glossary

What it is.

## rank
Lab 4. Also: ranks.
A process.

## ring all-reduce
Lab 5. Also: **ring**.
An all-reduce.

## root
Lab 4. Also: **root**.
Where it begins.
"""
LINK = re.compile(r"\[([^\]]+)\]\(\.\./glossary\.ipynb#([^)]+)\)")


@pytest.fixture
def write(tmp_path, monkeypatch):
    """A function that makes a text the glossary; what earlier texts gave is forgotten."""
    monkeypatch.setattr(source, "SOLUTIONS", tmp_path)

    def write(text=TEXT):
        (tmp_path / "glossary.md").write_text(text)
        glossary.read.cache_clear()

    yield write
    glossary.read.cache_clear()


def link(text, lab="05-ring", title="# A lab"):
    """The text of a lab's second cell, with links."""
    notebook = new_notebook(cells=[new_markdown_cell(title), new_markdown_cell(text)])
    glossary.add_links(notebook, lab)
    return notebook.cells[1].source


def test_the_first_use_of_each_term_is_linked(write):
    write()
    assert link("Ranks wait. A rank sends.") == "[Ranks](../glossary.ipynb#rank) wait. A rank sends."
    assert link("a ring\nall-reduce") == "a ring\nall-reduce".replace(
        "ring\nall-reduce", "[ring\nall-reduce](../glossary.ipynb#ring-all-reduce)"
    )
    assert link("A **rank** has") == "A **[rank](../glossary.ipynb#rank)** has"
    assert link("a square root, the **root**") == "a square root, the **[root](../glossary.ipynb#root)**"


def test_a_lab_before_the_one_that_introduces_a_term_gets_no_link(write):
    write()
    assert link("a rank, a **ring**", "04-collectives") == "a [rank](../glossary.ipynb#rank), a **ring**"
    assert link("a rank, a **ring**", "03-perceptron") == "a rank, a **ring**"


@pytest.mark.parametrize(
    "text",
    [
        "the code `rank` and ``a `rank` ``",
        "the formula $rank + 1$",
        "$$\nrank\n$$",
        "```\nrank = 1\n```",
        "    rank = comm.rank",
        "## Each rank",
        "| rank 0 | rank 1 |",
        "[a rank](https://example.org/rank)",
        "*The rank of a paper*",
        "cranks, rank-one",
        "### Five questions from memory\n\n1. Which rank?",
    ],
)
def test_there_are_no_links_in_code_formulas_headings_tables_links_and_quizzes(write, text):
    write()
    assert link(text) == text


def test_the_title_code_and_cells_of_students_stay_as_they_are(write):
    write()
    answer = new_markdown_cell("a rank", metadata={"nbgrader": {"solution": True}})
    notebook = new_notebook(cells=[new_code_cell("# a rank"), answer, new_markdown_cell("# A rank")])
    glossary.add_links(notebook, "05-ring")
    assert [cell.source for cell in notebook.cells] == ["# a rank", "a rank", "# A rank"]


def test_an_entry_without_its_lab_or_out_of_order_is_a_problem(write):
    write(TEXT.replace("Lab 5.", "Five."))
    with pytest.raises(Problem, match="ring all-reduce"):
        glossary.read(source.SOLUTIONS / glossary.NAME)
    write(TEXT.replace("## rank", "## zoo"))
    with pytest.raises(Problem, match="alphabetical"):
        glossary.read(source.SOLUTIONS / glossary.NAME)


def test_an_entry_with_blank_lines_in_its_text_is_a_problem_at_once(write):
    write(TEXT + "What follows a conflict.\n" * 40 + "\n=======\nAnother text.\n")
    with pytest.raises(Problem, match="the entry 'root' needs a line `Lab N.` and a text below it"):
        glossary.read(source.SOLUTIONS / glossary.NAME)


def test_without_a_glossary_there_is_no_page_and_no_link(tmp_path, monkeypatch):
    monkeypatch.setattr(source, "SOLUTIONS", tmp_path / "none")
    assert build.build_glossary() == {} and link("a rank") == "a rank"


def test_each_link_of_the_labs_leads_to_a_heading_and_no_term_is_linked_twice_in_a_lab():
    titles = [cell.source.split("\n")[0] for cell in glossary.make_page().cells]
    headings = {title.removeprefix("## ").replace(" ", "-") for title in titles}
    for lab in source.lab_names():
        texts = [cell.source for cell in build.solved(lab).cells if cell.cell_type == "markdown"]
        anchors = [anchor for text in texts for _, anchor in LINK.findall(text)]
        assert anchors and len(anchors) == len(set(anchors)) and set(anchors) <= headings, lab
        assert all("glossary.ipynb" not in cell.source for cell in build.solved(lab).cells if cell.cell_type == "code")
