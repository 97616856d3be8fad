"""The book's extension of Sphinx: registers formulas, slides and what pages generate from the labs."""

import zlib
from pathlib import Path

from autograder.book import generated, mathematics, slides

# Boxes that scroll sideways on a narrow screen; without this, nobody could scroll them with the keyboard.
SCROLLING = ("<pre>", '<div class="table-wrapper')


def setup(app):
    """Called by Sphinx, for the line in book/conf.py."""
    for part in (mathematics, slides, generated):
        part.setup(app)
    app.config.html_math_renderer_name = "mathml"
    app.connect("html-page-context", make_accessible, priority=900)  # after the theme, whose parts it completes
    code = b"".join(path.read_bytes() for path in sorted(Path(__file__).parent.glob("*.py")))
    version = zlib.crc32(code)  # when it changes, Sphinx reads all pages anew
    return {"parallel_read_safe": True, "parallel_write_safe": False, "env_version": version}


def make_accessible(app, page, template, context, doctree):
    """Let the keyboard reach all boxes that scroll, and give captions of contents the level of their heading."""
    for start in SCROLLING:
        name, _, rest = start.rstrip(">").partition(" ")
        ending = f" {rest}" if rest else ">"
        context["body"] = context.get("body", "").replace(start, f'{name} tabindex="0"{ending}')
    for part in ("body", "furo_navigation_tree"):
        context[part] = context.get(part, "").replace('role="heading"', 'role="heading" aria-level="2"')
