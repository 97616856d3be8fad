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

# Without a form of their own these would stand as far from what they enclose as operators do.
FENCE = re.compile(r"<mo(?: stretchy=\"false\")?>(&#x0(?:007C|2016);)</mo>")
# The name of a function that stands before its argument without brackets.
NAME = re.compile(
    r"((?<!<msub>)(?<!<msup>)<mi>(?:ln|log|exp|sin|cos|tanh)</mi>|<msub><mi>log</mi><mn>\d+</mn></msub>)(?=<m[inf]|<ms[uq])"
)
# What the converter takes for names of variables, which have no space around them.
OPERATORS = {"<mi>&#x000B1;</mi>": "<mo>&#x000B1;</mo>", "<mi>:</mi><mo>&#x0003D;</mo>": "<mo>&#x02254;</mo>"}
PUNCTUATION = tuple(".,;:)")


def setup(app):
    """Register the renderer with Sphinx under the name `mathml`."""
    app.add_html_math_renderer("mathml", (write_inline, None), (write_block, None))
    app.connect("doctree-resolved", keep_punctuation)


def keep_punctuation(app, doctree, page):
    """Let no line begin with the punctuation that follows a formula: a word joiner forbids a break there."""
    for formula in doctree.findall(nodes.math):
        after = formula.next_node(descend=False, siblings=True)
        if isinstance(after, nodes.Text) and after.startswith(PUNCTUATION):
            after.parent.replace(after, nodes.Text(f"\u2060{after}"))


def convert(formula, display="inline"):
    """A formula of LaTeX as an element of MathML. display: "inline" or "block"."""
    # The plain asterisk is drawn high in fonts, and far too high in an exponent.
    element = converter.convert(formula, display=display).replace(ASTERISK, CENTRED_ASTERISK)
    for wrong, right in OPERATORS.items():
        element = element.replace(wrong, right)
    element = FENCE.sub(r'<mo stretchy="false" lspace="0" rspace="0">\1</mo>', element)
    element = NAME.sub(r'\1<mspace width="0.17em"/>', element)
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
