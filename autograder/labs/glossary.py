"""The glossary, `solutions/glossary.md`: a page beside the labs, and links to it from the first use of each term.

An entry is a heading with the term, a line `Lab N. Also: other forms.` and one or two sentences. The line says which
lab introduces the term: labs before it get no link. A form such as `**root**` stands for bold text only, where the
plain word has other meanings. Links are made in the text of labs alone: never in code, formulas, headings, tables,
other links, quizzes, or cells that students edit.
"""

import functools
import re
from dataclasses import dataclass

from nbformat.v4 import new_markdown_cell, new_notebook

from autograder.labs import source
from course.errors import Problem

NAME = "glossary.md"  # in source.SOLUTIONS
PAGE = "glossary.ipynb"
ENTRY = re.compile(r"Lab (?P<lab>\d+)\.(?: Also: (?P<also>.+)\.)?\n(?P<text>(?:.+\n)+)")
CLOSED = re.compile(
    r"^```.*?^```"  # code
    r"|^(?:[|#]| {4}|\t).*?$"  # rows of tables, headings, indented code
    r"|\$\$.*?\$\$|\$[^$\n]+(?:\n[^$\n]+)?\$"  # formulas
    r"|``.+?``|`[^`]+`"  # code within a line
    r"|(?<!\*)\*[^*\n]+\*(?!\*)"  # words in italics, such as titles
    r"|!?\[[^\]]*\]\([^)]*\)|<[^>\n]+>|https?://\S+",  # links, images, HTML
    re.MULTILINE | re.DOTALL,
)
QUIZ = re.compile(r"### .* from memory\n|\*\*Your prediction\.\*\*")


@dataclass(frozen=True)
class Entry:
    """One term. lab: which introduces it. forms: how labs write it; a form between ** stands for bold text only."""

    term: str
    lab: int
    forms: tuple
    text: str

    def anchor(self):
        """The part of a link after #, as JupyterLab makes it from a heading."""
        return self.term.replace(" ", "-")


@functools.cache
def read(path):
    """The entries of the glossary at `path`, [] where there is none. Raises Problem for one without a lab or a text."""
    if not path.exists():
        return []
    entries = []
    for part in re.split(r"^## ", path.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
        term, _, rest = part.partition("\n")
        match = ENTRY.fullmatch(rest.strip() + "\n")
        if match is None:
            raise Problem(f"{path.name}: the entry '{term}' needs a line `Lab N.` and a text below it.")
        also = [form.strip() for form in (match["also"] or "").split(",") if form.strip()]
        is_bold_only = f"**{term}**".lower() in map(str.lower, also)
        forms = tuple(also if is_bold_only else [term, *also])
        entries.append(Entry(term, int(match["lab"]), forms, " ".join(match["text"].split())))
    terms = [entry.term.lower() for entry in entries]
    if terms != sorted(set(terms)):
        raise Problem(f"{path.name}: the entries must be in alphabetical order, each term once.")
    return entries


def make_page():
    """The notebook that students read, one cell per entry; None where there is no glossary."""
    path = source.SOLUTIONS / NAME
    entries = read(path)
    if not entries:
        return None
    title = re.split(r"^## ", path.read_text(encoding="utf-8"), maxsplit=1, flags=re.MULTILINE)[0].strip()
    cells = [new_markdown_cell(title, id="glossary")]
    for number, entry in enumerate(entries):
        text = f"## {entry.term}\n\n{entry.text} (Lab {entry.lab}.)"
        cells.append(new_markdown_cell(text, id=f"term-{number}"))
    for cell in cells:
        cell.metadata.update(editable=False)
    return new_notebook(cells=cells, metadata=source.METADATA)


def add_links(notebook, lab):
    """Link the first use of each term in the texts of this lab to its entry. lab: "04-collectives"."""
    entries = [entry for entry in read(source.SOLUTIONS / NAME) if entry.lab <= int(lab[:2])]
    by_form = {form.lower(): entry for entry in entries for form in entry.forms}
    if not by_form:
        return
    longest_first = sorted(by_form, key=len, reverse=True)
    pattern = re.compile("|".join(map(to_pattern, longest_first)), re.IGNORECASE)
    linked = set()
    for cell in notebook.cells:
        if cell.cell_type == "markdown" and "nbgrader" not in cell.metadata and not QUIZ.match(cell.source):
            cell.source = link_text(cell.source, pattern, by_form, linked)


def to_pattern(form):
    """The regular expression of one form; a space may be the end of a line."""
    words = re.escape(form).replace(r"\ ", r"\s")
    return words if form.startswith("**") else rf"(?<![\w-]){words}(?![\w-])"


def link_text(text, pattern, by_form, linked):
    """Return the text with links for the terms that are not in `linked` yet, and add them there."""

    def link(match):
        form = " ".join(match[0].split()).lower()
        entry = by_form[form]
        if entry.term in linked:
            return match[0]
        linked.add(entry.term)
        bold, words = ("**", match[0][2:-2]) if form.startswith("**") else ("", match[0])
        return f"{bold}[{words}](../{PAGE}#{entry.anchor()}){bold}"

    parts, end = [], 0
    for closed in CLOSED.finditer(text):
        parts += [pattern.sub(link, text[end : closed.start()]), closed[0]]
        end = closed.end()
    return "".join([*parts, pattern.sub(link, text[end:])])
