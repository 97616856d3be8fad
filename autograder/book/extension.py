"""The book's extension of Sphinx: registers formulas, slides and what pages generate from the labs."""

from autograder.book import generated, mathematics, slides


def setup(app):
    """Called by Sphinx, for the line in book/conf.py."""
    for part in (mathematics, slides, generated):
        part.setup(app)
    app.config.html_math_renderer_name = "mathml"
    return {"parallel_read_safe": True, "parallel_write_safe": False}
