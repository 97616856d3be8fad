"""What the pages have in common: their style, and text of a student's made fit to be shown.

Every page stands alone: no script, no network, nothing but its own style and pictures; a policy in its head has the
browser hold to that whatever a hand-in contains. Reads templates/; writes nothing.
"""

import re
from pathlib import Path

from jinja2 import Environment, FileSystemLoader

TEMPLATES = Path(__file__).parent / "templates"
STYLE = (TEMPLATES / "style.css").read_text()
MOST = 2000  # characters of one text
# ANSI's escape sequences, then what draws nothing, moves the cursor or turns the direction of reading round
ESCAPES = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?")
CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def plain(value, most=MOST):
    """The text of `value` without control characters, and cut, which it then says, after `most` characters.

    Without long stretches of nothing too: they are no use, and what colours code takes minutes over them.
    """
    content = str(value).replace("\r\n", "\n")
    left_out = len(content) - most
    content = CONTROLS.sub("\N{REPLACEMENT CHARACTER}", ESCAPES.sub("", content[:most]))
    content = re.sub(r"\n{4,}", "\n\n\n", "\n".join(map(str.rstrip, content.split("\n"))))
    return f"{content} … ({left_out:,} more characters)" if left_out > 0 else content


def points(value):
    """A number of points as text: 2 or 1.5, never 2.0."""
    return f"{value:g}" if abs(value) < 1e5 else f"{value:,.0f}"


def render(template, **values):
    """The page that `templates/TEMPLATE` makes of `values`; whatever they hold is escaped."""
    environment = Environment(loader=FileSystemLoader(TEMPLATES), autoescape=True, trim_blocks=True, lstrip_blocks=True)
    environment.filters.update(plain=plain, points=points)
    return environment.get_template(template).render(style=STYLE, **values)
