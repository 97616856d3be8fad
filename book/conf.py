"""Settings of the book. Everything that it does itself is in autograder/book."""

project = "Distributed machine learning"
author = "the authors of the course"
project_copyright = "the authors of the course; texts under CC BY 4.0, code under BSD-3-Clause"
extensions = ["myst_nb", "autograder.book.extension"]
html_theme = "furo"
html_title = "Distributed machine learning"
html_static_path = ["_static"]
html_css_files = ["book.css"]
templates_path = ["_templates"]
html_copy_source = False
html_show_sphinx = False
exclude_patterns = ["_build", "README.md", "_static", "_templates"]
if not tags.has("instructors"):  # noqa: F821 (Sphinx defines it)
    exclude_patterns += ["guide", "exam", "reference/instructors.md", "reference/authors.md"]

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath", "attrs_inline"]
myst_heading_anchors = 3
myst_url_schemes = ["http", "https", "mailto"]
nb_execution_mode = "cache"
nb_execution_timeout = 120  # seconds per cell
nb_execution_raise_on_error = True
nb_merge_streams = True
nitpicky = True
pygments_style = "a11y-high-contrast-light"
pygments_dark_style = "a11y-high-contrast-dark"
