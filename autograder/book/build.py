"""Builds the book: `python -m autograder.book.build`.

Writes into book/_build alone. Figures and outputs come from running the chapters' cells; what ran before is reused while
neither the chapter nor the code of `course` has changed.
"""

import argparse
import hashlib
import sys
from pathlib import Path

from sphinx.application import Sphinx

from course.errors import Problem

BOOK = Path(__file__).parents[2] / "book"
OUT = BOOK / "_build"


def main():
    parser = argparse.ArgumentParser(prog="python -m autograder.book.build", description=__doc__.split("\n")[0])
    parser.add_argument("--only", metavar="PAGE", help="build one page alone, such as chapters/05-ring")
    given = parser.parse_args()
    try:
        if given.only:
            make_pages("preview", ["instructors"], only=given.only)
        else:
            make_pages("students")
            make_pages("instructors", ["instructors"])
    except Problem as problem:
        sys.exit(str(problem))


def make_pages(name, tags=(), only=None):
    """Build HTML into _build/NAME. Raises Problem with the first warning or error, which are counted alike."""
    settings = {"nb_execution_cache_path": str(OUT / "cache" / digest_course())}
    if only:
        settings["include_patterns"] = f"index.md,{only}.md"
    warnings = OUT / f"{name}.log"
    warnings.parent.mkdir(parents=True, exist_ok=True)
    with warnings.open("w+") as log:
        app = Sphinx(
            BOOK, BOOK, OUT / name, OUT / "doctrees" / name, "html",
            confoverrides=settings, tags=list(tags), warning=log, status=None, parallel=1,
        )  # fmt: skip
        app.build()
        log.seek(0)
        lines = [line for line in log.read().splitlines() if line.strip()]
    if lines:
        raise Problem("\n".join(lines))


def digest_course():
    """A name for the present code of `course`: outputs that other code made are not reused."""
    files = sorted((BOOK.parent / "course").rglob("*.py"))
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:16]


if __name__ == "__main__":
    main()
