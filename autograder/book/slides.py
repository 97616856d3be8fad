"""Slides that chapters hold: boxes in the pages, and a deck of reveal.js per chapter from the same lines.

`{slide} Title` is a directive with the option `figure`: NAME of a cell of the chapter that has the tag `figure-NAME`.
`{note-to-speaker}` inside a slide is shown in the deck's speaker view alone. Writes `slides/NAME.html` into the output.
"""

from pathlib import Path

import sphinx_revealjs
from docutils import nodes
from docutils.parsers.rst import directives
from sphinx import addnodes
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
    """`::::{slide} Title` with the option `:figure: name`."""

    required_arguments, final_argument_whitespace, has_content = 1, True, True
    option_spec = {"figure": directives.unchanged}  # noqa: RUF012 (docutils reads a dict)

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


class Decks(SphinxDirective):
    """`:::{decks}`: one line per chapter with a link to its deck."""

    def run(self):
        self.env.note_reread()
        decks = nodes.bullet_list()
        for chapter in list_chapters(self.env):
            title = addnodes.pending_xref(
                "", nodes.inline(), refdomain="std", reftype="doc", reftarget=f"/{chapter}", refexplicit=False
            )
            deck = nodes.reference("", "slides", refuri=f"{name_deck(chapter)}.html", internal=True)
            decks += nodes.list_item("", nodes.paragraph("", "", title, nodes.Text(": "), deck))
        return [decks]


def list_chapters(env):
    """The names of all chapters, in order."""
    return sorted(name for name in env.found_docs if name.startswith("chapters/"))


def name_deck(chapter):
    return f"slides/{chapter.removeprefix('chapters/')}"


def setup(app):
    """Register directives, nodes and the event that writes the decks."""
    app.add_directive("slide", Slide)
    app.add_directive("note-to-speaker", NoteToSpeaker)
    app.add_directive("decks", Decks)
    app.add_node(slide, html=(open_box, close_box))
    app.add_node(note_to_speaker, html=(open_note, lambda translator, node: None))
    app.connect("html-collect-pages", make_decks)
    app.connect("doctree-read", add_link)
    app.connect("build-finished", copy_reveal)


def open_box(translator, node):
    if all(isinstance(part, note_to_speaker) for part in node.children[1:]):  # its figure stands in the page already
        raise nodes.SkipNode
    translator.body.append('<aside class="slide-box" aria-label="Slide">')


def close_box(translator, node):
    translator.body.append("</aside>\n")


def open_note(translator, node):
    raise nodes.SkipNode


def add_link(app, doctree):
    """Put a link to the deck below the heading of a chapter with slides."""
    name = app.env.docname
    if name.startswith("chapters/") and next(doctree.findall(slide), None):
        deck = nodes.reference("", "Slides of this chapter", refuri=f"../{name_deck(name)}.html", internal=True)
        title = next(doctree.findall(nodes.title))
        title.parent.insert(title.parent.index(title) + 1, nodes.paragraph("", "", deck, classes=["deck-link"]))


def make_decks(app):
    """Yield (page name, context, template) of each chapter with slides, as Sphinx wants them."""
    for name in list_chapters(app.env):
        app.builder.current_docname = name
        doctree = app.env.get_and_resolve_doctree(name, app.builder)
        slides = [make_slide(app, doctree, each) for each in doctree.findall(slide)]
        if slides:
            title = app.env.titles[name].astext()
            yield name_deck(name), {"title": title, "slides": slides, "chapter": f"../{name}.html"}, "deck.html"


def make_slide(app, doctree, node):
    """{"title", "lines", "figure", "note"} of one slide, each as HTML."""

    def to_html(parts):
        return (
            app.builder.render_partial(nodes.container("", *(part.deepcopy() for part in parts)))["fragment"]
            if parts
            else ""
        )

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
    """The nodes of the figure that a slide names, [] where it names none; warns where there is no such figure."""
    wanted = node["figure"]
    if not wanted:
        return []
    for cell in doctree.findall(nodes.container):
        if f"tag_figure-{wanted}" in cell["classes"]:
            return [each for each in cell.findall(nodes.raw) if "course-plot" in each.astext()]
    LOGGER.warning(
        "the slide names the figure %r, which no cell has: use the tag figure-%s.", wanted, wanted, location=node
    )
    return []


def copy_reveal(app, error):
    """Copy the files of reveal.js that decks use, with their licence, into the output."""
    if error is None and app.builder.name == "html":
        for part in PARTS:
            copy_asset(REVEAL / part, app.outdir / "_static" / "reveal" / Path(part).parent)
