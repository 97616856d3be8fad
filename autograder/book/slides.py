"""Slides that chapters hold: boxes in the pages, and a deck of reveal.js per chapter from the same lines.

`{slide} Title` is a directive with the option `figure`, the name in the tag `figure-NAME` of a cell of the same chapter.
`{note-to-speaker}` inside a slide is shown in the deck's speaker view alone. Writes `slides/NAME.html` into the output.
"""

import copy
from pathlib import Path

import sphinx_revealjs
from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective
from sphinx.util.fileutil import copy_asset

REVEAL = Path(sphinx_revealjs.__file__).parent / "_static" / "revealjs"
PARTS = ["LICENSE", "dist/reset.css", "dist/reveal.css", "dist/reveal.js", "plugin/notes/notes.js"]
LOGGER = logging.getLogger(__name__)


class slide(nodes.General, nodes.Element):
    """One slide: a title, then its lines. figure: the name of a figure of the chapter, or ''."""


class note_to_speaker(nodes.General, nodes.Element):
    """What a speaker says to a slide."""


class Slide(SphinxDirective):
    """`:::{slide} Title` with the option `:figure: name`."""

    required_arguments, final_argument_whitespace, has_content = 1, True, True
    option_spec = {"figure": directives.unchanged}

    def run(self):
        title, _ = self.state.inline_text(self.arguments[0], self.lineno)
        node = slide(figure=self.options.get("figure", ""))
        self.set_source_info(node)
        node += nodes.paragraph("", "", *title, classes=["slide-title"])
        node += self.parse_content_to_nodes()
        return [node]


class NoteToSpeaker(SphinxDirective):
    """`:::{note-to-speaker}`: text of the speaker view."""

    has_content = True

    def run(self):
        return [note_to_speaker("", *self.parse_content_to_nodes())]


def setup(app):
    """Register directives, nodes and the event that writes the decks."""
    app.add_directive("slide", Slide)
    app.add_directive("note-to-speaker", NoteToSpeaker)
    app.add_node(slide, html=(open_box, close_box))
    app.add_node(note_to_speaker, html=(open_note, lambda translator, node: None))
    app.connect("html-collect-pages", make_decks)
    app.connect("build-finished", copy_reveal)


def open_box(translator, node):
    translator.body.append('<aside class="slide-box" aria-label="Slide">')


def close_box(translator, node):
    translator.body.append("</aside>\n")


def open_note(translator, node):
    raise nodes.SkipNode


def make_decks(app):
    """Yield (page name, context, template) of each chapter with slides, as Sphinx wants them."""
    for name in sorted(app.env.found_docs):
        if not name.startswith("chapters/"):
            continue
        app.builder.current_docname = name
        doctree = app.env.get_and_resolve_doctree(name, app.builder)
        slides = [make_slide(app, doctree, each) for each in doctree.findall(slide)]
        if slides:
            deck = f"slides/{name.removeprefix('chapters/')}"
            title = app.env.titles[name].astext()
            yield deck, {"title": title, "slides": slides, "chapter": f"../{name}.html"}, "deck.html"


def make_slide(app, doctree, node):
    """{"title", "lines", "figure", "note"} of one slide, each as HTML."""

    def to_html(parts):
        return app.builder.render_partial(nodes.container("", *copy.deepcopy(list(parts))))["fragment"] if parts else ""

    title, *rest = node.children
    notes = [part for each in node.findall(note_to_speaker) for part in each.children]
    lines = [part for part in rest if not isinstance(part, note_to_speaker)]
    return {
        "title": to_html(title.children),
        "lines": to_html(lines),
        "figure": to_html(find_figure(doctree, node)),
        "note": to_html(notes),
    }


def find_figure(doctree, node):
    """The nodes of the figure that a slide names, [] where it names none; warns where the chapter has no such figure."""
    wanted = node["figure"]
    if not wanted:
        return []
    for cell in doctree.findall(nodes.container):
        if f"tag_figure-{wanted}" in cell["classes"]:
            return [each for each in cell.findall(nodes.raw) if "course-plot" in each.astext()]
    LOGGER.warning("the slide names the figure %r, which no cell has: use the tag figure-%s.", wanted, wanted, location=node)
    return []


def copy_reveal(app, error):
    """Copy the files of reveal.js that decks use, with their licence, into the output."""
    if error is None:
        for part in PARTS:
            copy_asset(REVEAL / part, app.outdir / "_static" / "reveal" / Path(part).parent)
