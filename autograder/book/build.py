"""Builds the book: `python -m autograder.book.build`, into book/_build alone.

Figures and outputs come from running the chapters' cells. What ran before is used again while neither the chapter nor
the code of `course` has changed. Nothing is fetched from a network.
"""

import argparse
import contextlib
import hashlib
import logging
import os
import re
import shutil
import sys
from pathlib import Path

from jupyter_cache import get_cache
from myst_nb.core.execute.base import ExecutionError
from sphinx.application import Sphinx
from sphinx.util.console import nocolor
from sphinx.util.docutils import docutils_namespace, patch_docutils

import course
from autograder.book.pdf import print_pdf
from course.errors import Problem

BOOK = Path(__file__).parents[2] / "book"
COURSE = Path(course.__file__).parent
OUT = BOOK / "_build"
PARTS = {"students": [], "instructors": ["instructors"]}  # folder of pages -> tags of Sphinx
FAILED_CELL = re.compile(r"-{18}\n(?P<source>.*?)\n-{18}\n", re.DOTALL)
COLOUR = re.compile(r"\x1b\[[0-9;]*m")
LINE_IN_CELL = re.compile(r"Cell In\[\d+\],? line (\d+)")


def main():
    """Build what the command line asks for; the exit status is 1, with the reason, where that is not possible."""
    parser = argparse.ArgumentParser(prog="python -m autograder.book.build", description=__doc__.split("\n")[0])
    parser.add_argument("--only", metavar="PAGE", help="build a preview of one page, such as chapters/05-ring")
    given = parser.parse_args()
    try:
        if given.only:
            print(f"The preview is {make_preview(given.only)}")
            return
        for part in PARTS:
            print(f"The pages for {part} are in {make_pages(part)}", flush=True)
        print(f"The book to print is {make_pdf()}")
    except Problem as problem:
        sys.exit(str(problem))


def make_preview(page):
    """Build one page alone; returns its file. Raises Problem as `make_pages` does."""
    if not (BOOK / f"{page}.md").exists():
        raise Problem(f"there is no page book/{page}.md.")
    return make_pages("preview", PARTS["instructors"], page) / f"{page}.html"


def make_pages(part, tags=None, only=None):
    """Build HTML into _build/PART and return this folder.

    Raises Problem with all warnings, which count as errors, or with file and line of the first cell that fails.
    """
    build("html", part, PARTS[part] if tags is None else tags, only)
    return OUT / part


def make_pdf():
    """Print all pages for students into _build/book.pdf and return this file. Raises Problem without Chromium."""
    build("singlehtml", "print", PARTS["students"])
    return print_pdf(OUT / "print" / "index.html", OUT / "book.pdf")


def build(builder, name, tags, only=None):
    """Run one of Sphinx's builders into _build/NAME."""
    cache = OUT / "cache" / digest_course()
    settings = {"nb_execution_cache_path": str(cache)}
    if only:
        settings["include_patterns"] = f"index.md,{only}.md"
    nocolor()
    logging.getLogger("traitlets").setLevel(logging.WARNING)
    OUT.mkdir(exist_ok=True)
    with (OUT / f"{name}.log").open("w+") as log, errors_into(log):
        try:
            with patch_docutils(BOOK), docutils_namespace():  # so that several builds fit into one process
                app = Sphinx(
                    BOOK, BOOK, OUT / name, OUT / "doctrees" / name, builder,
                    confoverrides=settings, tags=tags, warning=log, status=None,
                )  # fmt: skip
                app.build()
        except ExecutionError as error:
            raise Problem(describe_failure(Path(str(error)), error.__cause__)) from None
        log.seek(0)
        prune_cache(cache)
        remove_old_pages(OUT / name, app.env.found_docs)
        warnings = [line for line in log.read().splitlines() if re.search(r": (WARNING|ERROR|CRITICAL):", line)]
    if warnings:
        shutil.rmtree(OUT / "doctrees" / name, ignore_errors=True)  # otherwise the next build does not warn again
        raise Problem("\n".join(warnings))


@contextlib.contextmanager
def errors_into(log):
    """Send standard error to an open file, also that of the kernels that are started meanwhile."""
    sys.stderr.flush()
    usual = os.dup(2)
    os.dup2(log.fileno(), 2)
    try:
        yield
    finally:
        sys.stderr.flush()
        os.dup2(usual, 2)
        os.close(usual)


def describe_failure(path, error):
    """One sentence on the cell of `path` that failed, with its line."""
    page = f"book/{path.relative_to(BOOK)}"
    text = COLOUR.sub("", str(error))
    cell = FAILED_CELL.search(text)
    if cell is None:
        return f"{page} could not be run: {text.strip().splitlines()[-1]}"
    before = path.read_text(encoding="utf-8").partition(cell["source"])[0]
    line = before.count("\n") + int((LINE_IN_CELL.findall(text) or [1])[-1])
    return f"{page}, line {line}: the cell failed with {text.strip().splitlines()[-1]}"


def prune_cache(cache):
    """Remove outputs that no page uses any more: all beside the folder `cache`, and there all but each page's last."""
    for folder in cache.parent.glob("*"):
        if folder != cache:  # of another state of `course`
            shutil.rmtree(folder)
    outputs = get_cache(cache)
    records = sorted(outputs.list_cache_records(), key=lambda record: record.accessed)
    last = {record.uri: record.pk for record in records if Path(record.uri).exists()}
    for record in records:
        if last.get(record.uri) != record.pk:
            outputs.remove_cache(record.pk)


def remove_old_pages(folder, documents):
    """Remove pages and decks of documents that are there no longer, as when a page of all became one of instructors."""
    decks = {f"slides/{Path(name).name}" for name in documents if name.startswith("chapters/")}
    for page in folder.glob("[!_]*/*.html"):
        if (name := f"{page.parent.name}/{page.stem}") not in decks | documents:
            page.unlink()
            (folder / "_sources" / f"{name}.md.txt").unlink(missing_ok=True)


def digest_course():
    """A name for the present state of `course`: outputs that another state made are not used."""
    digest = hashlib.sha256()
    for file in sorted(COURSE.rglob("*")):
        if file.is_file() and "__pycache__" not in file.parts:
            digest.update(str(file.relative_to(COURSE)).encode() + file.read_bytes())
    return digest.hexdigest()[:16]


if __name__ == "__main__":
    main()
