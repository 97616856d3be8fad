"""What the board's pages show and do, without a browser: empty and full, for a group and for the instructor."""

import hashlib
import html
import io
import re
from html.parser import HTMLParser
from urllib.parse import urlencode

import numpy as np
import pytest
from PIL import Image
from starlette.testclient import TestClient

from autograder.competition.leaderboard import api, app, pages, pictures, rules, views
from autograder.testing.board import CODE, NOTEBOOK, BoardWithGroups, make_patchy_entry, score_patchy_map
from autograder.testing.maps import make_patchy_map
from course.competition import scene

NASTY = '{{7*7}}<img src=x onerror="alert(1)">&"\'</b>'
HERE = {"Origin": "http://testserver", "Sec-Fetch-Site": "same-origin"}
STATIC = pages.HERE / "static"
VOID = {"meta", "link", "img", "input", "br"}


class Parsed(HTMLParser):
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


def read(response, status=200):
    """The page in an answer, and what holds for any: nothing inline, nothing from elsewhere, all of it has a name."""
    assert response.status_code == status, response.text[:500]
    parsed = Parsed(response.text)
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


@pytest.fixture(scope="module")
def three(tmp_path_factory):
    """Three groups, one of a nasty name with a worse entry that does not count; two verified, one refused."""
    board = BoardWithGroups(tmp_path_factory.mktemp("three"), ["Ann & Bob", NASTY[:40], "Ähren"])
    for n, evidence in enumerate([{"ranks": 4, "seconds": 12.34}, None, None], 1):
        board.store.accept(n, "first", make_patchy_entry(n, (0.02 + n / 100, 0.25 + n / 10), evidence))
    board.store.accept(2, "second", make_patchy_entry(2, (0.02, 0.3)))
    board.score()
    board.verify("verified", "verified", "refused", said=f"it {NASTY} says so.")
    return board


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """Two hundred groups; all have the maps of one of three, and numbers of their own."""
    board = BoardWithGroups(tmp_path_factory.mktemp("many"))
    places = {split: {} for split in scene.SPLITS}
    for n in range(1, 201):
        group = board.join(f"Group {n}")
        number, _ = board.store.accept(group.id, "k", make_patchy_entry(n % 3, (0.03, 0.3)))
        scores = {}
        for split, wrong in zip(scene.SPLITS, (0.03, 0.3), strict=True):
            known = score_patchy_map(n % 3, wrong, split)
            scores[split] = known | {name: known[name] - n / 2000 for name in ("overall", "low", "high")}
            places[split][number] = n
        board.store.put_scores(number, "public", scores)
    board.store.put_ranks("public", "made up", places)
    return board


@pytest.fixture
def asking(three):
    """A browser that nobody has logged in on."""
    return TestClient(three.app(), headers=HERE, follow_redirects=False)


def logged_in(board, token):
    return TestClient(board.app(), headers=HERE, follow_redirects=False, cookies={api.COOKIE: token})


def test_the_wall_of_a_board_without_entries_says_what_will_come(tmp_path):
    board = BoardWithGroups(tmp_path, ["The first"])
    page = read(TestClient(board.app()).get("/"))
    assert page.text.count("No entry yet") == 2 and "left, until" in page.text and "How to take part" in page.text
    assert not page.all("tr", **{"class": "row"}) and page.all("img", alt="Ground truth: 10,249 pixels have a class")


def test_the_wall_of_one_group_has_its_row_on_both_splits_and_its_maps_beside_the_truth(tmp_path):
    board = BoardWithGroups(tmp_path, ["Alone"])
    board.store.accept(1, "k", make_patchy_entry(1))
    assert "No entry yet" in read(TestClient(board.app()).get("/")).text  # until it is scored
    board.score()
    page = read(TestClient(board.app()).get("/"))
    assert len(page.all("tr", **{"class": "row"})) == 2 and "Not verified" in page.text
    words = [attributes["alt"] for attributes in page.all("img") if attributes["alt"]]
    assert [each.split(":")[0] for each in words] == [
        "Ground truth", "The map of Alone for the random split", "The map of Alone for the disjoint split",
    ]  # fmt: skip
    assert all("Soybean-mintill" in each for each in words) and "left blank until the deadline" in words[1]


def test_verified_entries_come_first_and_the_others_below_a_heading(asking):
    page = asking.get("/").text
    for split in scene.SPLITS:
        section = page.split(f'<section class="panel {split}"')[1].split("</section>")[0]
        places = [
            section.index(html.escape(name, quote=True).replace("&#x27;", "&#39;")) for name in ("Ann & Bob", "Ähren")
        ]
        assert places[0] < section.index("Not verified") < section.index("refused") and places[1] < section.index(
            "refused"
        )


def test_the_wall_has_each_number_of_a_group_as_text(three, asking):
    page, row = asking.get("/?group=Ann+%26+Bob"), views.standing(three.store).row("disjoint", "Ann & Bob")
    section = page.text.split('<section class="panel disjoint"')[1].split("</section>")[0]
    gap = views.standing(three.store).gap["Ann & Bob"]
    for number in (f"{100 * row.overall:.1f}<", f"{100 * row.average:.1f}<", f"{row.kappa:.2f}<", f"{gap:.1f}<"):
        assert number in section
    assert f"{100 * row.low:.1f} to {100 * row.high:.1f}" in section
    assert "4, 12" in page.text and "4 ranks, 12 s to its accuracy" in page.text
    recall = page.text.split('<div class="recall">')[1].split("</div>")[0]
    assert recall.count("<tr>") == 17 and f"{100 * row.recall[11]:.0f}</td>" in recall and "not scored" in recall


def test_shared_ranks_are_shown_as_such(tmp_path):
    board = BoardWithGroups(tmp_path, ["One", "Two", "Three"])
    for n, wrong in ((1, 0.3), (2, 0.3), (3, 0.6)):
        board.store.accept(n, "k", make_patchy_entry(1, (wrong, wrong)))
    board.score()
    board.verify("verified", "verified", "verified")
    page = TestClient(board.app()).get("/")
    read(page)
    for split in scene.SPLITS:
        section = page.text.split(f'<section class="panel {split}"')[1].split("</section>")[0]
        shown = re.findall(r'class="place[^"]*">(\d+)(.*?)</td>', section)
        assert [(rank, "shared" in rest) for rank, rest in shown] == [("1", True), ("1", True), ("3", False)]
        assert '["One", "Two"]' in html.unescape(section)


def test_names_and_sentences_are_shown_as_text_on_every_page(three, asking):
    clients = [(asking, "/"), (asking, f"/?{urlencode({'group': NASTY[:40]})}")]
    clients += [(logged_in(three, token), "/group") for token in three.tokens.values()]
    clients += [(logged_in(three, three.instructor), path) for path in ("/instructor", "/instructor?group=2")]
    for client, path in clients:
        page = read(client.get(path))
        assert not [a for _, a in page.tags if a.get("src") == "x"]
    assert NASTY[:40] in read(asking.get("/")).text


def test_two_hundred_groups_come_in_pages_and_a_chosen_one_is_on_its_page(many):
    client = TestClient(many.app())
    first = read(client.get("/"))
    assert len(first.all("tr", **{"class": "row"})) == 20 and first.text.count("1 to 10 of 200") == 2
    last = read(client.get("/?page=20"))
    assert "191 to 200 of 200" in last.text and "Group 200" in last.text
    assert "191 to 200 of 200" in read(client.get("/?page=9999")).text
    assert "71 to 80 of 200" in read(client.get("/?group=Group+77")).text
    for nonsense in ("?page=-1", "?page=x", "?group=nobody", "?page=%00", "?group=%3Cscript%3E", "?page=" + "9" * 5000):
        assert "1 to 10 of 200" in read(client.get(f"/{nonsense}")).text
    assert len(read(client.get("/")).all("option")) == 200
    assert len(client.get("/").content) < 100_000


def test_before_the_deadline_maps_show_no_private_pixel_and_after_it_all_that_have_a_class(tmp_path):
    board = BoardWithGroups(tmp_path, ["Alone"])
    board.store.accept(1, "k", make_patchy_entry(1))
    board.score()
    app = board.app()
    for part in ("public", "private"):
        assert views.standing(board.store).part == part
        for split, wrong in zip(scene.SPLITS, (0.02, 0.3), strict=True):
            answer = TestClient(app).get(f"/map/1/{split}.png")
            shown = np.array(Image.open(io.BytesIO(answer.content)))
            hidden = (scene.split(split).grid == scene.PRIVATE) & (part == "public")
            assert hidden.any() == (part == "public")
            hidden |= scene.load()[1] == 0
            assert np.array_equal(shown, np.where(hidden, 0, make_patchy_map(1, wrong)))
        if part == "public":
            board.store.change({"deadline": "2026-01-01T00:00:00"})
            board.score()


def test_no_page_has_a_private_number_before_the_deadline(three, asking):
    shown = asking.get("/?group=Ann+%26+Bob").text + logged_in(three, three.tokens["Ann & Bob"]).get("/group").text
    for split, wrong in zip(scene.SPLITS, (0.03, 0.35), strict=True):
        public, private = score_patchy_map(1, wrong, split), score_patchy_map(1, wrong, split, "private")
        for name in ("overall", "average"):
            assert f"{100 * public[name]:.1f}" in shown
            assert (
                f">{100 * private[name]:.1f}<" not in shown
                and f"{100 * public[name]:.1f}" != f"{100 * private[name]:.1f}"
            )


def test_only_a_map_that_is_on_the_wall_can_be_seen(three, asking):
    counting = {row.entry for row in views.standing(three.store).rows["random"]}
    assert counting == {1, 3, 4}
    for path in (
        "/map/2/random.png",
        "/map/99/random.png",
        "/map/1/private.png",
        "/map/1/..%2f..%2fx.png",
        "/map/0/random.png",
    ):
        assert asking.get(path).status_code in (404, 422), path
    assert asking.get("/map/truth.png").headers["content-type"] == "image/png"


def test_static_files_are_those_of_the_list_alone(asking):
    for name, kind in pages.STATIC.items():
        answer = asking.get(f"/static/{name}")
        assert answer.status_code == 200 and answer.headers["content-type"].startswith(kind)
    for name in ("../pages.py", "..%2fpages.py", "%2e%2e/pages.py", "nothing"):
        assert asking.get(f"/static/{name}").status_code == 404


def test_all_is_below_the_path_that_a_hub_gives_the_board(three):
    below = app.make_app(app.Config(three.folder, three.store, prefix="/services/board"))
    client = TestClient(below, headers=HERE, follow_redirects=False)
    page = read(client.get("/services/board/"))
    for _, attributes in page.tags:
        for name in ("src", "href", "action", "hx-get", "data-events"):
            assert attributes.get(name, "#").startswith(("/services/board/", "#")), attributes
    answer = client.post("/services/board/log-in", data={"token": three.instructor})
    assert (
        answer.headers["location"] == "/services/board/instructor"
        and "path=/services/board" in answer.headers["set-cookie"].lower()
    )


def test_a_group_joins_and_sees_its_token_once(tmp_path):
    board = BoardWithGroups(tmp_path)
    client = TestClient(board.app(), headers=HERE, follow_redirects=False)
    assert "not that of this board" in read(client.post("/join", data={"name": "New", "code": "wrong"}), 403).text
    answer = client.post("/join", data={"name": " The  new ones", "code": CODE})
    token = re.search(r'class="token">([\w-]{32})<', answer.text)[1]
    assert "Welcome, The new ones" in read(answer, 201).text and board.store.group_of(token).name == "The new ones"
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie and "samesite=strict" in cookie and answer.headers["cache-control"] == "no-store"
    assert token not in client.get("/group").text and "The new ones" in client.get("/group").text
    assert "There is a group" in read(client.post("/join", data={"name": "the NEW ones", "code": CODE}), 409).text
    assert client.post("/log-out").headers["location"] == "/"
    assert "Log in with your group’s token" in read(client.get("/group")).text


def test_only_a_token_of_the_board_logs_in(three, asking):
    for wrong in ("", "x", three.instructor[:-1], "'; DROP TABLE groups; --", "\x00"):
        assert "is not one of this board" in read(asking.post("/log-in", data={"token": wrong}), 403).text
    assert asking.post("/log-in", data={"token": f" {three.tokens['Ähren']} "}).headers["location"] == "/group"


def upload(client, path="/group/hand-in?key=a", seed=7, **changes):
    sent = make_patchy_entry(seed)
    files = {"random": sent.random, "disjoint": sent.disjoint, "notebook": NOTEBOOK.encode()} | changes
    return client.post(
        path, files={name: (name, content) for name, content in files.items()}, data={"ranks": "", "seconds": ""}
    )


def test_a_form_hands_in_once_however_often_it_is_sent(tmp_path):
    board = BoardWithGroups(tmp_path, ["Alone"], per_day=2)
    client = logged_in(board, board.tokens["Alone"])
    form = read(client.get("/group")).all("form", action="/group/hand-in")[0]
    assert len(form["action"].partition("key=")[2]) > 20
    answers = [upload(client, form["action"]) for _ in range(2)]
    assert [answer.headers["location"] for answer in answers] == ["/group?done=handed-in&entry=1"] * 2
    assert "Entry 1 is in and on disk" in read(client.get(answers[0].headers["location"])).text
    assert "2 to come" not in client.get("/group").text and len(board.store.history(1)) == 1
    wrong = read(upload(client, "/group/hand-in?key=b", random=b"no array"), 422)
    assert "The random" in wrong.text or "NumPy’s format" in wrong.text.replace("'", "’")
    assert "Idempotency-Key" in read(upload(client, "/group/hand-in"), 422).text and len(board.store.history(1)) == 1
    assert upload(client, "/group/hand-in?key=c", seed=8).status_code == 303
    assert "2 times today" in read(client.get("/group")).text
    assert "2 are allowed" in read(upload(client, "/group/hand-in?key=d", seed=9), 429).text


def test_a_group_chooses_its_own_entries_alone(three):
    client = logged_in(three, three.tokens["Ähren"])
    assert "no entry 1" in read(client.post("/group/choose", data={"entry": "1"}), 404).text
    nasty = logged_in(three, three.tokens[NASTY[:40]])
    assert "Let it count, entry 2" in read(nasty.get("/group")).text
    assert nasty.post("/group/choose", data={"entry": "4"}).headers["location"] == "/group?done=chosen&entry=4"
    assert "as you chose" in read(nasty.get("/group?done=chosen&entry=4")).text


def test_nobody_changes_anything_without_being_logged_in_or_from_another_site(three, asking):
    own, head = logged_in(three, three.tokens["Ähren"]), three.store.head()
    paths = [
        "/group/hand-in?key=a",
        "/group/choose",
        *(f"/instructor/{each}" for each in ("settings", "rescore", "freeze", "withdraw")),
    ]
    for path in paths:
        assert read(asking.post(path, data={"entry": "1"}), 401).all("input", name="token")
    for path in paths[2:]:
        assert read(own.post(path, data={"entry": "1"}), 403).all("input", name="token")
    everybody = logged_in(three, three.instructor)
    for path in [*paths, "/join", "/log-in", "/log-out"]:
        for said in ({"Origin": "http://evil.example"}, {"Sec-Fetch-Site": "cross-site"}, {"Origin": "null"}):
            assert (
                everybody.post(path, data={"entry": "1", "name": "Eve", "code": CODE}, headers=said).status_code == 403
            )
    assert three.store.head() == head


def test_the_instructor_sets_withdraws_and_freezes_by_forms(tmp_path):
    board = BoardWithGroups(tmp_path, ["Alone"])
    board.store.accept(1, "k", make_patchy_entry(1))
    board.score()
    client = logged_in(board, board.instructor)
    values = {
        "name": "Autumn",
        "code": "walnut-7",
        "deadline": "2030-05-01T12:00",
        "per_day": "3",
        "time_zone": "Europe/Berlin",
    }
    assert client.post("/instructor/settings", data=values).headers["location"] == "/instructor?done=settings"
    assert (
        rules.written(board.store.settings().deadline).startswith("2030-05-01T10:00")
        and board.store.settings().per_day == 3
    )
    assert {
        a["name"]: a["value"] for a in read(client.get("/instructor")).all("input") if a.get("value")
    }.items() >= values.items()
    for field, wrong, said in (
        ("per_day", "-1", "whole number"),
        ("per_day", "lots", "whole number"),
        ("deadline", "soon", "a date and a time"),
        ("time_zone", "../etc/passwd", "time zone is not known"),
        ("name", "\u202e", "cannot be seen"),
        ("code", "a b", "4 to 40"),
    ):
        assert said in read(client.post("/instructor/settings", data=values | {field: wrong}), 422).text
    assert (
        "The reason has 0 characters"
        in read(client.post("/instructor/withdraw", data={"entry": 1, "group": 1}), 422).text
    )
    done = client.post("/instructor/withdraw", data={"entry": 1, "group": 1, "reason": f"a copy {NASTY}"})
    assert f"a copy {NASTY}" in read(client.get(done.headers["location"])).text
    assert f"Withdrawn: a copy {NASTY}" in read(logged_in(board, board.tokens["Alone"]).get("/group")).text
    assert "No entry yet" in read(client.get("/")).text
    client.post("/instructor/freeze", data={"frozen": "yes"})
    assert (
        "The board is frozen" in logged_in(board, board.tokens["Alone"]).get("/group").text
        and "Frozen" in client.get("/").text
    )
    client.post("/instructor/freeze", data={"frozen": ""})
    assert not board.store.settings().frozen
    assert client.post("/instructor/rescore").headers["location"] == "/instructor?done=rescore"
    assert "walnut-7" not in read(client.get("/instructor")).text.partition("The log")[2]


def test_after_the_deadline_nothing_can_be_handed_in_or_chosen_and_the_wall_says_what_is_final(tmp_path):
    board = BoardWithGroups(tmp_path, ["Alone"])
    board.store.accept(1, "a", make_patchy_entry(1))
    board.store.accept(1, "b", make_patchy_entry(2))
    board.store.change({"deadline": "2026-01-01T00:00:00"})
    client = logged_in(board, board.tokens["Alone"])
    assert "The deadline has passed" in read(client.get("/")).text
    page = read(client.get("/group"))
    assert not page.all("input", type="file") and not page.all("form", action="choose")
    assert "The deadline has passed" in read(upload(client, "/group/hand-in?key=new"), 403).text
    board.score()
    board.verify("verified")
    page = read(client.get("/"))
    assert "Final." in page.text and "Closed since" in page.text and "left blank" not in str(page.tags)


def test_the_deadline_is_seen_at_once_although_nothing_else_has_changed(tmp_path, monkeypatch):
    board = BoardWithGroups(tmp_path, ["Alone"])
    board.store.accept(1, "k", make_patchy_entry(1))
    client = TestClient(board.app())
    assert "left, until" in client.get("/").text
    later = board.store.settings().deadline
    monkeypatch.setattr(rules, "now", lambda: later)
    assert "The deadline has passed" in client.get("/").text


def test_progress_is_told_in_words(tmp_path):
    board = BoardWithGroups(tmp_path, [NASTY[:40], "Other"])
    for group, key, wrong in ((1, "a", 0.5), (2, "b", 0.4), (1, "c", 0.2)):
        board.store.accept(group, key, make_patchy_entry(1, (wrong, wrong)))
        board.score()
        board.verify("verified")
    lines = views.progress(board.store)["disjoint"]
    chart = pictures.progress(lines, "disjoint", NASTY[:40], lambda time: "that day")
    first, last = (value for _, value in lines[NASTY[:40]])
    assert f"rose from {100 * first:.1f}% to {100 * last:.1f}%, by 1 step." in chart.text and "2 groups" in chart.text
    assert chart.text in html.unescape(chart.svg) and "<img" not in chart.svg
    assert "No entry" in pictures.progress({}, "random", None, str).text


def test_what_was_refused_or_left_before_anybody_looked_at_it_is_no_progress(tmp_path):
    """Else a truth that was uploaded once would stand at 100% for good."""
    board = BoardWithGroups(tmp_path, ["Honest", "Caught", "In passing"])
    for group, key, wrong in ((1, "a", 0.3), (2, "b", 0.0), (3, "c", 0.0), (3, "d", 0.4)):
        board.store.accept(group, key, make_patchy_entry(1, (wrong, wrong)))
    board.score()
    lines = views.progress(board.store)["random"]
    assert set(lines) == {"Honest", "Caught", "In passing"} and len(lines["In passing"]) == 1
    board.verify("verified", "refused", "verified")
    lines = views.progress(board.store)["random"]
    assert set(lines) == {"Honest", "In passing"} and all(value < 0.9 for line in lines.values() for _, value in line)
    page = read(TestClient(board.app()).get("/?group=Caught"))
    assert "100.0" not in page.text.split("In words")[1] and "the best accuracy" in page.text


def test_a_board_on_which_all_were_refused_has_a_wall(tmp_path):
    board = BoardWithGroups(tmp_path, ["Alone"])
    board.store.accept(1, "k", make_patchy_entry(1))
    board.score()
    board.verify("flagged")
    page = read(TestClient(board.app()).get("/"))
    assert "to be looked at" in page.text and page.text.count("No entry on the") == 2


def test_who_asks_with_a_browser_gets_a_page_on_what_is_wrong(three, asking):
    own, browser = logged_in(three, three.tokens["Ähren"]), {"Accept": "text/html,*/*;q=0.8"}
    too_large = b"x" * (app.LARGEST + 1)
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
        assert words in read(answer, status).text and answer.headers["content-type"].startswith("text/html")
    for path, accept in (("/api/nothing", browser), ("/nothing", {"Accept": "image/png"}), ("/nothing", {})):
        assert asking.get(path, headers=accept).json() == {"detail": "there is nothing at this address."}


def test_a_group_gets_a_new_token_from_the_instructor_and_the_old_one_is_worth_nothing(tmp_path):
    board = BoardWithGroups(tmp_path, ["Robbed", "Other"])
    old, client = board.tokens["Robbed"], logged_in(board, board.instructor)
    read(logged_in(board, board.tokens["Other"]).post("/instructor/token", data={"group": 1}), 403)
    assert board.store.group_of(old).name == "Robbed"
    assert read(client.get("/instructor?group=1")).all("form", action="/instructor/token")
    answer = client.post("/instructor/token", data={"group": 1})
    new = re.search(r'class="token">([\w-]{32})<', answer.text)[1]
    assert "The new token of Robbed, shown this once" in read(answer).text
    assert board.store.group_of(new).name == "Robbed" and board.store.group_of(old) is None
    assert new not in client.get("/instructor?group=1").text
    assert "Log in with your group’s token" in read(logged_in(board, old).get("/group")).text
    assert "There is no group 9" in read(client.post("/instructor/token", data={"group": 9}), 404).text


@pytest.mark.parametrize("values", [[], [0.5], [0.999, 1.0], [0.0, 1.0], [0.004, 0.016], [0.61, 0.87]])
def test_an_axis_holds_every_value_and_few_ticks(values):
    axis = pictures.Axis(values)
    assert all(0 <= axis.place(value) <= 100 for value in values) and 0 <= axis.low < axis.high <= 100
    assert 2 <= len(axis.ticks) <= 12 and all(0 <= axis.place(tick / 100) <= 100 for tick in axis.ticks)


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0, "0 seconds"), (61, "1 minute 1 second"), (3600, "1 hour 0 minutes"), (200_000, "2 days 7 hours")],
)
def test_what_is_left_is_told_by_the_two_largest_units(seconds, words):
    assert pages.time_left(seconds) == words


def test_htmx_is_the_file_that_its_authors_published():
    wanted, name = (STATIC / "htmx.sha256").read_text().split()
    assert hashlib.sha256((STATIC / name).read_bytes()).hexdigest() == wanted
    assert "Zero-Clause BSD" in (STATIC / "htmx.LICENSE.txt").read_text()


def luminance(colour):
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    """The contrast of two colours as WCAG 2.1 has it, 1 to 21."""
    high, low = sorted([luminance(one), luminance(other)], reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_colours_have_the_contrast_that_people_need(scheme):
    """WCAG 2.1 AA: 4.5 for text, 3 for shapes that mean something."""
    blocks = re.findall(r":root \{(.*?)\}", (STATIC / "style.css").read_text(), re.S)
    colours = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", blocks[0 if scheme == "light" else 1]))
    assert len(blocks) == 2 and len(colours) == 13
    text = [(ink, ground) for ink in ("ink", "soft") for ground in ("page", "card", "chosen")]
    text += [("good", "page"), ("bad", "page"), ("bad", "card"), ("on-colour", "random"), ("on-colour", "disjoint")]
    text += [(split, "card") for split in scene.SPLITS]
    shapes = [(mark, ground) for mark in ("edge", "random", "disjoint", "others") for ground in ("page", "card")]
    shapes += [(split, "chosen") for split in scene.SPLITS]
    low = {pair: round(contrast(colours[pair[0]], colours[pair[1]]), 2) for pair in text}
    assert not {pair: ratio for pair, ratio in low.items() if ratio < 4.5}
    low = {pair: round(contrast(colours[pair[0]], colours[pair[1]]), 2) for pair in shapes}
    assert not {pair: ratio for pair, ratio in low.items() if ratio < 3}


def test_the_colours_of_classes_are_those_of_the_lab_and_all_different():
    assert len(set(pictures.colours())) == len(scene.CLASSES) and pictures.colours()[:2] == ("#ffffff", "#1f77b4")
