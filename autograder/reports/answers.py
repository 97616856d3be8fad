"""Written answers as HTML: Markdown with its maths, from which a sanitiser takes all that could act in a browser.

The dialect is that of notebooks (nbconvert's, and through it mistune's). Formulas become MathML, which browsers draw
without a script. What is left is text, lists, tables, code, formulas and the pictures that the hand-in itself carries;
no link, address, style, class, id or script. Works on text alone: reads and fetches nothing.
"""

import base64
import binascii
import html
import re
from urllib.parse import unquote
from xml.etree import ElementTree

import nh3
from latex2mathml.converter import convert_to_element
from mistune import import_plugin
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath, MathBlockParser, MathInlineParser

from autograder.reports import render

MOST = 20_000  # characters of one answer
MOST_OF_FORMULA = 2_000  # characters of one formula
MOST_OF_PICTURE = 8_000_000  # bytes of one picture
PLUGINS = ("strikethrough", "table", "def_list")  # no links are made of addresses, and no boxes to tick
# A formula that defines a macro can grow without bound.
DEFINES = re.compile(r"\\(?:[a-z]*(?:command|environment)|[gex]?def|let|Declare\w*)(?![a-z])")
SIGNATURES = {
    "image/png": b"\x89PNG\r\n\x1a\n",
    "image/jpeg": b"\xff\xd8\xff",
    "image/gif": b"GIF8",
    "image/webp": b"RIFF",
}
PICTURE = re.compile(r"data:(image/[a-z]+);base64,([A-Za-z0-9+/=\s]*)", re.IGNORECASE)
TAGS = {
    "b", "blockquote", "br", "caption", "code", "dd", "del", "details", "div", "dl", "dt", "em", "hr", "i", "img",
    "ins", "kbd", "li", "mark", "ol", "p", "pre", "q", "s", "samp", "small", "span", "strong", "sub", "summary",
    "sup", "table", "tbody", "td", "tfoot", "th", "thead", "tr", "u", "ul", "var",
}  # fmt: skip
MATHS_TAGS = {
    "math", "menclose", "mfenced", "mfrac", "mi", "mmultiscripts", "mn", "mo", "mover", "mpadded", "mphantom",
    "mprescripts", "mroot", "mrow", "mspace", "msqrt", "mstyle", "msub", "msubsup", "msup", "mtable", "mtd",
    "mtext", "mtr", "munder", "munderover",
}  # fmt: skip
MATHS_ATTRIBUTES = {
    "accent", "accentunder", "columnalign", "columnspacing", "columnlines", "depth", "display", "displaystyle",
    "fence", "form", "height", "largeop", "linethickness", "lspace", "mathvariant", "maxsize", "minsize",
    "movablelimits", "notation", "rowlines", "rowspacing", "rspace", "separator", "stretchy", "symmetric",
    "voffset", "width",
}  # fmt: skip
# Words, and lengths that move nothing out of its place; \! is -0.167em.
VALUE = re.compile(r"(?:(?:[a-z-]+|(?:-?0?\.\d+|\d{1,2}(?:\.\d+)?)(?:em|ex|px|pt|mu|%)?)(?: |$)){1,9}")
NO_TEXT = {  # what stands inside these goes with them
    "script", "style", "template", "iframe", "noscript", "noembed", "noframes", "object", "svg", "title", "textarea",
}  # fmt: skip
CLEANER = nh3.Cleaner(
    tags=TAGS | MATHS_TAGS,
    attributes={"ol": {"start"}, "img": {"src"}} | dict.fromkeys(MATHS_TAGS, MATHS_ATTRIBUTES),
    attribute_filter=lambda tag, name, value: filter_attribute(tag, name, value),
    clean_content_tags=NO_TEXT,
    set_tag_attribute_values={"img": {"alt": "picture in the hand-in"}},
    url_schemes={"data"},
    link_rel=None,
)


def render_answer(text, attachments=None):
    """Return `text`, the Markdown of a cell, as one line of harmless HTML; too long a text is truncated, and says so.

    attachments: the cell's, name -> mime type -> base64; whatever else it is counts as none. One line, because Markdown
    then passes it on unchanged, as nbgrader does when it shows the cell. MathJax is told to leave it alone.
    """
    text = render.clean(text, MOST)
    markdown = MarkdownWithMath(
        renderer=AnswerRenderer(escape=False, attachments=attachments if isinstance(attachments, dict) else {}),
        block=BlockParser(),
        inline=InlineParser(hard_wrap=False),
        plugins=[import_plugin(name) for name in PLUGINS],
    )
    try:
        content = markdown.render(text)
    except RecursionError:  # quotes in quotes in quotes
        content = f"<pre>{html.escape(text)}</pre>"
    content = render.CONTROLS.sub("\N{REPLACEMENT CHARACTER}", CLEANER.clean(content).strip())
    return f'<div class="tex2jax_ignore mathjax_ignore">{content}</div>'.replace("\n", "&#10;")


BODY = f".{{0,{MOST_OF_FORMULA}}}?"  # bounded, or a text of many openings takes long to search


class BlockParser(MathBlockParser):
    r"""nbconvert's, which knows \\[ and \\], with \[ and \] as in LaTeX itself."""

    MULTILINE_MATH = MathBlockParser.MULTILINE_MATH[:-1] + rf"|(?<!\\)\\\[{BODY}\\\])"
    SPECIFICATION = MathBlockParser.SPECIFICATION | {"multiline_math": MULTILINE_MATH}


class InlineParser(MathInlineParser):
    r"""nbconvert's, which knows \\( and \\), with \( and \) as in LaTeX itself."""

    SPECIFICATION = MathInlineParser.SPECIFICATION | {
        "block_math_latex": rf"(?s:(?<!\\)\\\\?\[(?P<math_block_latex>{BODY})(?<!\\)\\\\?\])",
        "inline_math_latex": rf"(?s:(?<!\\)\\\\?\((?P<math_inline_latex>{BODY})(?<!\\)\\\\?\))",
    }


class AnswerRenderer(IPythonRenderer):
    """Markdown as HTML without links and headings, and with formulas as MathML."""

    def heading(self, text, level, **attrs):
        """A bold line: the page around the answer has headings of its own."""
        return f"<p><strong>{text}</strong></p>\n"

    def link(self, text, url, title=None):
        """The text, and the address to be read."""
        address = html.escape(url)
        return text if text == address else f"{text} ({address})"

    def image(self, text, url, title=None):
        """A picture that the cell carries; of any other, its text and address."""
        if url.startswith("attachment:"):
            bundle = self.attachments.get(unquote(url.removeprefix("attachment:")), {})
            found = [read_picture(mime, data) for mime, data in bundle.items()] if isinstance(bundle, dict) else []
            url = next(filter(None, found), url)
        if read_picture_url(url):
            return f'<img src="{html.escape(url)}">'
        return f"({text}: {html.escape(url[:200])})"

    def block_code(self, code, info=None):
        """Code as text, in any language."""
        return f"<pre><code>{html.escape(code)}</code></pre>\n"

    def block_math(self, body):
        return typeset(body, "block")

    def inline_math(self, body):
        return typeset(body, "inline")

    def latex_environment(self, name, body):
        return typeset(f"\\begin{{{name}}}{body}\\end{{{name}}}", "block")


def typeset(formula, display):
    """Return a formula in LaTeX as MathML, or as code where it cannot be read. display: "block" or "inline"."""
    if len(formula) <= MOST_OF_FORMULA and not DEFINES.search(formula):
        try:
            element = convert_to_element(formula, display=display)
        except Exception:  # of a dozen kinds, for formulas that are not LaTeX
            pass
        else:
            for each in element.iter():
                each.text = html.unescape(each.text or "")  # the converter writes signs as references
            return ElementTree.tostring(element, encoding="unicode")
    return f"<code>{html.escape(formula)}</code>"


def read_picture(mime, data):
    """Return a picture as a data URL, encoded anew; None unless it is one of a kind that cannot carry a script.

    mime: as in a notebook. data: base64.
    """
    signature = SIGNATURES.get(mime)
    if signature is None or not isinstance(data, str) or len(data) > MOST_OF_PICTURE * 4 // 3:
        return None
    try:
        content = base64.b64decode("".join(data.split()), validate=True)
    except (binascii.Error, ValueError):
        return None
    return f"data:{mime};base64,{base64.b64encode(content).decode()}" if content.startswith(signature) else None


def read_picture_url(url):
    """Return a picture's data URL, encoded anew; None where `url` is anything else."""
    match = PICTURE.fullmatch(url)
    return read_picture(match[1].lower(), match[2]) if match else None


def filter_attribute(tag, name, value):
    """Return the value of an attribute that is kept, None for one that is dropped."""
    if tag == "img":
        return read_picture_url(value) if name == "src" else value
    return value if VALUE.fullmatch(value) else None
