"""Formulas of the book as MathML, which browsers draw without a script, in the font that book/_static carries.

Sphinx calls `write_inline` and `write_block` for each formula while it writes HTML.
"""

import re

from docutils import nodes
from latex2mathml import converter

ASTERISK, CENTRED_ASTERISK = "<mo>&#x0002A;</mo>", "<mo>&#x02217;</mo>"

# A minus after one of = < > ( [ , + · ≈ ≤ ≥ is a sign, which stands close to its number.
SIGN = re.compile(
    r"(<mo[^>]*>&#x0(?:003D|003C|003E|0028|005B|002C|002B|22C5|2248|2264|2265);</mo><mo)(>&#x02212;</mo>)"
)


def setup(app):
    """Register the renderer with Sphinx under the name `mathml`."""
    app.add_html_math_renderer("mathml", (write_inline, None), (write_block, None))


def convert(formula, display="inline"):
    """A formula of LaTeX as an element of MathML. display: "inline" or "block"."""
    # The plain asterisk is drawn high in fonts, and far too high in an exponent.
    element = converter.convert(formula, display=display).replace(ASTERISK, CENTRED_ASTERISK)
    return SIGN.sub(r'\1 form="prefix"\2', element)


def write_inline(translator, node):
    translator.body.append(convert(node.astext()))
    raise nodes.SkipNode


def write_block(translator, node):
    # A wide formula scrolls inside its box, and whoever uses the keyboard must be able to reach it.
    name = f' id="{node["ids"][0]}"' if node.get("ids") else ""
    translator.body.append(f'<div class="formula" tabindex="0"{name} role="group" aria-label="Formula">')
    translator.body.append(convert(node.astext(), display="block"))
    translator.body.append("</div>\n")
    raise nodes.SkipNode
