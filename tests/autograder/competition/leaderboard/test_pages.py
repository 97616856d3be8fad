"""All pages: names are text, nothing private, nothing from other sites, errors as pages."""

import hashlib
from datetime import datetime
from urllib.parse import urlencode
from zoneinfo import ZoneInfo

from starlette.testclient import TestClient

from autograder.competition.leaderboard import rules
from autograder.competition.leaderboard.web import app, pages, templating
from autograder.testing.board import CODE, score_patchy_map
from autograder.testing.board_pages import NASTY, OWN_SITE, log_in, read_page
from course.competition import scene

STATIC = templating.HERE / "static"


def test_names_and_sentences_are_text_on_every_page(three, asking):
    clients = [(asking, "/"), (asking, f"/?{urlencode({'group': NASTY[:40]})}")]
    clients += [(log_in(three, token), "/group") for token in three.tokens.values()]
    clients += [(log_in(three, three.instructor), path) for path in ("/instructor", "/instructor?group=2")]
    for client, path in clients:
        page = read_page(client.get(path))
        assert not [a for _, a in page.tags if a.get("src") == "x"]
    assert NASTY[:40] in read_page(asking.get("/")).text


def test_no_page_has_a_private_number_before_the_deadline(three, asking):
    text = asking.get("/?group=Ann+%26+Bob").text + log_in(three, three.tokens["Ann & Bob"]).get("/group").text
    for split, wrong in zip(scene.SPLITS, (0.03, 0.35), strict=True):
        public, private = score_patchy_map(1, wrong, split), score_patchy_map(1, wrong, split, "private")
        for name in ("overall", "average"):
            assert f"{100 * public[name]:.1f}" in text
            assert (
                f">{100 * private[name]:.1f}<" not in text
                and f"{100 * public[name]:.1f}" != f"{100 * private[name]:.1f}"
            )


def test_only_the_listed_static_files_are_served(asking):
    for name, kind in pages.STATIC.items():
        answer = asking.get(f"/static/{name}")
        assert answer.status_code == 200 and answer.headers["content-type"].startswith(kind)
    for name in ("../pages.py", "..%2fpages.py", "%2e%2e/pages.py", "nothing"):
        assert asking.get(f"/static/{name}").status_code == 404


def test_htmx_is_the_file_that_its_authors_published():
    wanted, name = (STATIC / "htmx.sha256").read_text().split()
    assert hashlib.sha256((STATIC / name).read_bytes()).hexdigest() == wanted
    assert "Zero-Clause BSD" in (STATIC / "htmx.LICENSE.txt").read_text()


def test_all_links_are_below_the_path_that_a_hub_gives_the_board(three):
    below = app.make_app(app.Config(three.store, prefix="/services/board"))
    client = TestClient(below, headers=OWN_SITE, follow_redirects=False)
    page = read_page(client.get("/services/board/"))
    for _, attributes in page.tags:
        for name in ("src", "href", "action", "hx-get", "data-events"):
            assert attributes.get(name, "#").startswith(("/services/board/", "#")), attributes
    answer = client.post("/services/board/log-in", data={"token": three.instructor})
    assert (
        answer.headers["location"] == "/services/board/instructor"
        and "path=/services/board" in answer.headers["set-cookie"].lower()
    )


def test_changes_need_a_log_in_and_a_page_of_the_board_itself(three, asking):
    own, head = log_in(three, three.tokens["Ähren"]), three.store.log.read_head()
    paths = [
        "/group/hand-in?key=a",
        "/group/choose",
        *(f"/instructor/{each}" for each in ("settings", "rescore", "freeze", "withdraw")),
    ]
    for path in paths:
        assert read_page(asking.post(path, data={"entry": "1"}), 401).all("input", name="token")
    for path in paths[2:]:
        assert read_page(own.post(path, data={"entry": "1"}), 403).all("input", name="token")
    everybody = log_in(three, three.instructor)
    for path in [*paths, "/join", "/log-in", "/log-out"]:
        for headers in ({"Origin": "http://evil.example"}, {"Sec-Fetch-Site": "cross-site"}, {"Origin": "null"}):
            assert (
                everybody.post(path, data={"entry": "1", "name": "Eve", "code": CODE}, headers=headers).status_code
                == 403
            )
    assert three.store.log.read_head() == head


def test_a_browser_gets_errors_as_pages(three, asking):
    own, browser = log_in(three, three.tokens["Ähren"]), {"Accept": "text/html,*/*;q=0.8"}
    too_large = b"x" * (rules.MAX_BODY + 1)
    for client, method, path, options, status, words in (
        (asking, "GET", "/nothing", {}, 404, "There is nothing at this address."),
        (asking, "PUT", "/join", {}, 405, "This address does not take such a request."),
        (asking, "GET", "/map/99/random.png", {}, 404, "There is no such map on the wall."),
        (own, "POST", "/group/hand-in?key=a", {"content": too_large}, 413, "The request has more than 6,291,456 bytes"),
        (own, "POST", "/group/choose", {"data": {"entry": "x"}}, 422, "Entry: input should be a valid integer"),
        (own, "POST", "/join", {"headers": {"Origin": "http://evil.example"}}, 403, "came from another site"),
    ):
        headers = browser | options.pop("headers", {})
        answer = client.request(method, path, headers=headers, **options)
        assert words in read_page(answer, status).text and answer.headers["content-type"].startswith("text/html")
    for path, accept in (("/api/nothing", browser), ("/nothing", {"Accept": "image/png"}), ("/nothing", {})):
        assert asking.get(path, headers=accept).json() == {"detail": "there is nothing at this address."}


def test_a_time_has_its_year_where_that_is_not_the_present_one():
    now = datetime.now(ZoneInfo("Asia/Tokyo"))
    assert str(now.year) not in templating.format_local(now, "Asia/Tokyo")
    other = now.replace(year=now.year - 1, month=3, day=5, hour=18, minute=0)
    assert templating.format_local(other, "Asia/Tokyo") == f"5 Mar {now.year - 1}, 18:00"
