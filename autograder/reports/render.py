"""What the pages have in common: their style, their templates, and student text made safe to show.

Every page stands alone: no script, no network, nothing but its own style and pictures. A policy in its head makes the
browser enforce this, whatever a hand-in contains. Reads templates/; writes nothing.
"""

import re
from pathlib import Path

from jinja2 import Environment, FileSystemLoader

TEMPLATES = Path(__file__).parent / "templates"
STYLE = (TEMPLATES / "style.css").read_text()
MOST = 2000  # characters of one text
# ANSI escape sequences, then characters that are invisible, move the cursor or reverse the reading direction
ESCAPES = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?")
CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def clean(value, most=MOST):
    """The text of `value` without control characters, truncated after `most` characters, which it then says.

    Long runs of empty lines are shortened too: they carry nothing, and colouring them as code takes minutes.
    """
    content = str(value).replace("\r\n", "\n")
    left_out = len(content) - most
    content = CONTROLS.sub("\N{REPLACEMENT CHARACTER}", ESCAPES.sub("", content[:most]))
    content = re.sub(r"\n{4,}", "\n\n\n", "\n".join(map(str.rstrip, content.split("\n"))))
    return f"{content} … ({left_out:,} more characters)" if left_out > 0 else content


def format_points(value):
    """A number of points as text: 2 or 1.5, never 2.0."""
    return f"{value:g}" if abs(value) < 1e5 else f"{value:,.0f}"


FILTERS = {"clean": clean, "points": format_points}


def render(template, **values):
    """The page that `templates/TEMPLATE` makes of `values`; everything in them is escaped."""
    environment = Environment(loader=FileSystemLoader(TEMPLATES), autoescape=True, trim_blocks=True, lstrip_blocks=True)
    environment.filters.update(FILTERS)
    return environment.get_template(template).render(style=STYLE, **values)
