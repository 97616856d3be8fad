"""Pages of the leaderboard for tests: clients that request them, and checks of what holds for every page."""

import re
from html.parser import HTMLParser

from starlette.testclient import TestClient

from autograder.competition.leaderboard.web import visitors

NASTY = '{{7*7}}<img src=x onerror="alert(1)">&"\'</b>'  # a name and a sentence that a page must show as text
OWN_SITE = {"Origin": "http://testserver", "Sec-Fetch-Site": "same-origin"}
VOID = {"meta", "link", "img", "input", "br"}


class ParsedPage(HTMLParser):
    """A page as a list of (tag, attributes), well nested or it fails; text: what is between."""

    def __init__(self, source):
        super().__init__()
        self.tags, self.open, self.text, self.pictures = [], [], "", []
        self.feed(source)
        assert not self.open, f"not closed: {self.open}"

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        if tag == "svg" and "svg" not in self.open:
            self.pictures.append(dict(attributes))
        if tag not in VOID and not self.get_starttag_text().endswith("/>"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self.open and self.open.pop() == tag, f"</{tag}> closes something else"

    def handle_data(self, data):
        self.text += data

    def all(self, tag, **wanted):
        return [
            a for t, a in self.tags if t == tag and all(value in (a.get(key) or "") for key, value in wanted.items())
        ]


def read_page(response, status=200):
    """The page in an answer, and what holds for any: nothing inline, nothing from elsewhere, all of it has a name."""
    assert response.status_code == status, response.text[:500]
    parsed = ParsedPage(response.text)
    ids = [a["id"] for _, a in parsed.tags if "id" in a]
    assert len(ids) == len(set(ids)), "an id twice"
    for tag, attributes in parsed.tags:
        assert "style" not in attributes and not [name for name in attributes if name.startswith("on")], (
            tag,
            attributes,
        )
        for name in ("src", "href", "action"):
            assert not re.match(r"(?i)\s*(\w+:|//)", attributes.get(name) or ""), attributes
    assert all("src" in attributes for attributes in parsed.all("script")) and not parsed.all("style")
    assert len(parsed.all("h1")) == 1 and len(parsed.all("main")) == 1 and parsed.all("html", lang="en")
    assert all("alt" in attributes for attributes in parsed.all("img"))
    assert all(svg.get("role") == "img" or svg.get("aria-hidden") == "true" for svg in parsed.pictures)
    for attributes in parsed.all("a", href="#"):
        target = attributes["href"].partition("#")[2]
        assert target in ids, target
    for _, attributes in parsed.tags:
        for each in attributes.get("aria-labelledby", "").split():
            assert each in ids, each
    policy = response.headers["content-security-policy"]
    assert "default-src 'self'" in policy and "unsafe" not in policy
    return parsed


def log_in(board, token=None):
    """A client of the board's pages, logged in by a token unless it is None."""
    cookies = {visitors.COOKIE: token} if token else None
    return TestClient(board.app(), headers=OWN_SITE, follow_redirects=False, cookies=cookies)
