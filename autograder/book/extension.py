"""The book's extension of Sphinx: registers formulas, slides and what pages generate from the labs."""

from autograder.book import generated, mathematics, slides

# Boxes that scroll sideways on a narrow screen; without this, nobody could scroll them with the keyboard.
SCROLLING = ("<pre>", '<div class="table-wrapper')


def setup(app):
    """Called by Sphinx, for the line in book/conf.py."""
    for part in (mathematics, slides, generated):
        part.setup(app)
    app.config.html_math_renderer_name = "mathml"
    app.connect("html-page-context", make_reachable)
    return {"parallel_read_safe": True, "parallel_write_safe": False}


def make_reachable(app, page, template, context, doctree):
    """Let the keyboard reach all boxes that scroll."""
    for start in SCROLLING:
        name, _, rest = start.rstrip(">").partition(" ")
        ending = f" {rest}" if rest else ">"
        context["body"] = context.get("body", "").replace(start, f'{name} tabindex="0"{ending}')
