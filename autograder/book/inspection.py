"""What is wrong with the built pages: broken links, resources from elsewhere, pictures without a text.

Reads HTML and CSS below a folder of pages, as text. How the pages behave in a browser: autograder/testing/axe.py.
"""

import re
from html.parser import HTMLParser
from urllib.parse import unquote, urldefrag, urlsplit

from autograder.book.build import BOOK

LOADED = {
    "script": "src",
    "img": "src",
    "iframe": "src",
    "source": "src",
    "video": "src",
    "audio": "src",
    "link": "href",
}
FROM_CSS = re.compile(r"@import\s+[\"']?([^\"')\s;]+)|url\(\s*[\"']?([^\"')]+)")
CELL = re.compile(r"^`{3,}\{code-cell\}", re.MULTILINE)


class Page(HTMLParser):
    """What one page refers to. links: targets of links. loaded: what a browser fetches. ids: its anchors.

    silent: pictures without an alternative text.
    """

    def __init__(self, path):
        super().__init__()
        self.links, self.loaded, self.ids, self.silent = [], [], set(), []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.ids.update(filter(None, (attributes.get("id"), attributes.get("name"))))
        if tag == "a" and attributes.get("href"):
            self.links.append(attributes["href"])
        if attributes.get(LOADED.get(tag)):
            self.loaded.append(attributes[LOADED[tag]])
        if tag == "img" and not (attributes.get("alt") or "").strip():
            self.silent.append(attributes.get("src", "")[:60])


def list_pages(folder):
    """The pages below a folder, sorted; nothing that only themes carry."""
    return sorted(path for path in folder.rglob("*.html") if "_static" not in path.parts)


def find_broken_links(folder):
    """One sentence per link or resource of the pages below `folder` that leads nowhere within it."""
    pages = {path.resolve(): Page(path) for path in list_pages(folder)}
    broken = []
    for path, page in pages.items():
        for link in page.links + page.loaded:
            if urlsplit(link).scheme or link.startswith("//"):
                continue
            address, anchor = urldefrag(link)
            target = (path.parent / unquote(urlsplit(address).path)).resolve() if address else path
            where = f"{path.relative_to(folder.resolve())}: {link}"
            if not target.is_file():
                broken.append(f"{where} leads to no file.")
            elif anchor and target in pages and unquote(anchor) not in pages[target].ids and not anchor.startswith("/"):
                broken.append(f"{where} leads to no anchor.")
    return broken


def find_foreign_resources(folder):
    """One sentence per script, style, font or picture that a browser would fetch from elsewhere."""
    found = [(path, each) for path in list_pages(folder) for each in Page(path).loaded]
    for path in folder.rglob("*.css"):
        text = path.read_text(encoding="utf-8", errors="replace")
        found += [(path, a or b) for a, b in FROM_CSS.findall(text)]
    is_foreign = re.compile(r"(https?:)?//", re.IGNORECASE)
    return [f"{path.relative_to(folder)} loads {each}." for path, each in found if is_foreign.match(each)]


def find_silent_pictures(folder):
    """One sentence per picture without an alternative text."""
    return [f"{path.relative_to(folder)}: {each}" for path in list_pages(folder) for each in Page(path).silent]


def count_cells():
    """The code cells of all chapters: what a build runs, since it stops at the first that fails."""
    return sum(len(CELL.findall(path.read_text(encoding="utf-8"))) for path in (BOOK / "chapters").glob("*.md"))
