"""The wall and the other pages in a real browser: live, on a phone, by keyboard, nothing from other sites."""

import contextlib
import re
import socket
import threading
import time

import pytest
import uvicorn

from autograder.competition.leaderboard.web import wall
from autograder.testing import browser
from autograder.testing.board import CODE, BoardWithGroups, make_patchy_entry

PATIENCE = browser.PATIENCE
WIDE = """() => [...document.querySelectorAll('body :not(thead *, .scroll *)')]
    .filter(e => e.getBoundingClientRect().right > innerWidth).map(e => `${e.tagName} ${e.textContent}`).join('; ')"""
HOST = "board.uni.example"
PARTS = (".focus .maps", ".focus .recall", ".focus .courses")
LONG = "Ä" * 36 + " end"


class Server:
    """Serves a board on a port that stays the same after `stop` and `start`."""

    def __init__(self, board):
        self.board = board
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"

    def start(self):
        options = {"log_level": "warning", "timeout_graceful_shutdown": 1}
        self.server = uvicorn.Server(uvicorn.Config(self.board.app(), port=self.port, **options))
        self.thread = threading.Thread(target=self.server.run)
        self.thread.start()
        end = time.monotonic() + PATIENCE / 1000
        while not self.server.started and self.thread.is_alive() and time.monotonic() < end:
            time.sleep(0.05)
        assert self.server.started

    def stop(self):
        self.server.should_exit = True
        self.thread.join(30)
        assert not self.thread.is_alive()


@contextlib.contextmanager
def served(board):
    server = Server(board)
    server.start()
    try:
        yield server
    finally:
        server.stop()


@pytest.fixture(scope="module")
def chromium():
    with browser.start_chromium() as started:
        yield started


@contextlib.contextmanager
def page_of(chromium, server, width=1920, height=1080, token=None, **options):
    """A page that requests nothing from other sites. complaints: errors and warnings on its console; urls: requests."""
    context = chromium.new_context(viewport={"width": width, "height": height}, **options)
    if token:
        context.add_cookies([{"name": "board", "value": token, "url": server.url}])
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    page.complaints, page.urls = [], []
    page.on(
        "console",
        lambda message: page.complaints.append(message.text) if message.type in ("error", "warning") else None,
    )
    page.on("pageerror", lambda error: page.complaints.append(str(error)))
    page.on("request", lambda request: page.urls.append(request.url))
    yield page
    assert all(url.startswith(server.url) for url in page.urls)
    context.close()


@pytest.fixture(scope="module")
def board(tmp_path_factory):
    """Twelve groups with the same maps; one has a long name, and one a nasty name."""
    names = ["Rank Zero", LONG, '<i onclick="x">', *(f"Group {n}" for n in range(4, 13))]
    board = BoardWithGroups(tmp_path_factory.mktemp("board"), names)
    for n in range(1, 13):
        evidence = {"ranks": 2**n, "seconds": 1000 / n} if n % 2 else None
        board.store.entries.accept(n, "k", make_patchy_entry(1, (0.05, 0.4), evidence))
    board.score()
    board.verify(*["verified"] * 9, "refused")
    return board


@pytest.fixture(scope="module")
def server(board):
    with served(board) as server:
        yield server


def test_the_wall_changes_at_once_without_a_reload(chromium, tmp_path):
    board = BoardWithGroups(tmp_path, ["Early", "Late"])
    board.store.entries.accept(1, "k", make_patchy_entry(1, (0.05, 0.5)))
    board.score()
    board.verify("verified")
    with served(board) as server, page_of(chromium, server) as page:
        page.goto(server.url)
        page.wait_for_selector("#live:not([hidden]) >> text=Live")
        page.evaluate("window.still = 'here'")
        page.locator("#words summary").click()
        rows = page.locator(".panel.disjoint tr.row")
        assert rows.count() == 1 and page.locator("#news").inner_text() == ""
        page.locator("#choose-group").focus()
        board.store.entries.accept(2, "k", make_patchy_entry(2, (0.05, 0.2)))
        board.score()
        page.wait_for_function("() => document.querySelectorAll('.panel.disjoint tr.row').length === 2")
        board.verify("verified")
        page.wait_for_selector("#news >> text=Late is now first on the disjoint split.")
        assert rows.first.inner_text().split()[1] == "Late" and page.evaluate("window.still") == "here"
        assert page.evaluate("document.activeElement.id") == "choose-group", "the focus stays"
        assert page.locator("#words").get_attribute("open") is not None, "open details stay open"
        assert page.locator("#news").get_attribute("role") == "status" and not page.complaints

        server.stop()
        page.wait_for_selector("#live.lost >> text=Connection lost")
        board.store.settings.change({"name": "Another name"})
        board.store.entries.withdraw(2, "a copy")
        server.start()
        page.wait_for_selector("#live:not(.lost) >> text=Live")
        page.wait_for_function("() => document.querySelectorAll('.panel.disjoint tr.row').length === 1")
        assert page.evaluate("window.still") == "here"


@pytest.mark.long
def test_ten_groups_can_be_read_from_the_back_of_the_room(chromium, server):
    for width, height in ((1920, 1080), (1280, 720)):
        with page_of(chromium, server, width, height) as page:
            page.goto(server.url)
            rows = page.locator(".panel.disjoint tr.row")
            assert rows.count() == wall.ROWS and rows.last.bounding_box()["y"] + 20 < 0.7 * height
            size = "e => parseFloat(getComputedStyle(e).fontSize)"
            assert rows.first.locator(".overall").evaluate(size) >= 0.021 * height
            assert rows.first.locator("th a").evaluate(size) >= 0.017 * height
            page.locator("text=Next").last.click()
            page.wait_for_selector("text=11 to 12 of 12")
            assert page.locator(".heading").count() and "page=2" in page.url and not page.complaints


@pytest.mark.long
def test_no_page_scrolls_sideways_on_a_phone(chromium, server, board):
    for path, token in (
        ("/", None), ("/?page=2", None), ("/join", None), ("/group", board.tokens[LONG]),
        ("/instructor", board.instructor), ("/instructor?group=2", board.instructor),
    ):  # fmt: skip
        with page_of(chromium, server, token=token) as page:
            page.goto(server.url + path)
            for width in (320, 360, 768):
                page.set_viewport_size({"width": width, "height": 800})
                assert page.evaluate("document.documentElement.scrollWidth") <= width, (
                    path,
                    width,
                    page.evaluate(WIDE),
                )
            assert not page.complaints, path


@pytest.mark.long
def test_everything_can_be_reached_by_keyboard_and_the_focus_is_visible(chromium, server):
    with page_of(chromium, server) as page:
        page.goto(server.url)
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.className") == "skip"
        assert page.locator(".skip").bounding_box()["x"] >= 0
        page.keyboard.press("Enter")
        assert page.url.endswith("#main")
        focused = []
        for _ in range(40):
            page.keyboard.press("Tab")
            focus = page.evaluate(
                """() => { const e = document.activeElement, style = getComputedStyle(e);
                return [e.id || e.tagName, style.outlineStyle, parseFloat(style.outlineWidth)] }"""
            )
            if focus[0] == "BODY":
                break
            focused.append(focus[0])
            assert focus[1] != "none" and focus[2] >= 2, focus
        assert {"choose-group", "choose-show", "tour", "on-random", "on-disjoint"} <= set(focused)
        assert sum(each.startswith("to-") for each in focused) == 2 * wall.ROWS
        link = page.locator(".panel.random tr.row:not(.chosen) th a").first
        name = link.inner_text()
        link.focus()
        page.keyboard.press("Enter")
        page.wait_for_function("name => document.querySelector('#focus h2').innerText === name", arg=name)
        assert page.evaluate("document.activeElement.innerText") == name and not page.complaints


@pytest.mark.long
def test_a_screen_reader_finds_tables_landmarks_and_names(chromium, server):
    for width in (1920, 360):
        with page_of(chromium, server, width, 900) as page:
            page.goto(server.url)
            tree = page.locator("body").aria_snapshot()
            for words in ("- banner:", "- main:", '- navigation "Pages"', '- table "Disjoint split"', "columnheader"):
                assert words in tree, (width, words)
            assert tree.count("- rowheader") >= 2 * wall.ROWS
            assert re.search(r'rowheader "Rank Zero"', tree) and 'img "Ground truth: 10,249 pixels have a class' in tree
            assert 'img "The disjoint split, 11 groups: the best accuracy is' in tree


@pytest.mark.long
def test_groups_are_shown_in_turn_until_stop_is_clicked(chromium, server):
    with page_of(chromium, server) as page:
        page.goto(server.url)
        heading = page.locator("#focus h2")
        before = heading.inner_text()
        page.click("#tour")
        page.wait_for_function("name => document.querySelector('#focus h2').innerText !== name", arg=before)
        page.wait_for_selector("#tour[aria-pressed=true] >> text=Stop")
        page.click("#tour")
        page.wait_for_selector("#tour[aria-pressed=false]")
        assert not page.complaints


@pytest.mark.long
def test_nothing_moves_for_people_who_prefer_reduced_motion(chromium, server):
    with page_of(chromium, server, reduced_motion="reduce") as page:
        page.goto(server.url)
        page.wait_for_selector("#live:not([hidden])")
        page.evaluate("htmx.trigger(document.getElementById('board'), 'standing')")
        page.wait_for_timeout(500)
        assert page.evaluate("document.getAnimations().length") == 0


def test_a_group_joins_hands_in_and_chooses_without_javascript(chromium, server, board, tmp_path):
    paths = {
        name: tmp_path / f"{name}.{ending}"
        for name, ending in (("random", "npy"), ("disjoint", "npy"), ("notebook", "ipynb"))
    }
    for name, path in paths.items():
        path.write_bytes(getattr(make_patchy_entry(3), name))
    with page_of(chromium, server, 1280, 900, java_script_enabled=False) as page:
        page.goto(f"{server.url}/join")
        page.fill("[name=name]", "By hand")
        page.fill("[name=code]", CODE)
        page.click("main button >> text=Join")
        assert page.locator(".token").inner_text()
        page.click("text=Go to your group’s page")
        for _ in range(2):
            for name, path in paths.items():
                page.set_input_files(f"[name={name}]", path)
            page.click("main button >> text='Hand in'")
            page.wait_for_selector("text=has been received and is on disk")
        page.click("text=Let it count")
        assert (
            "counts now" in page.locator(".done").inner_text()
            and "as you chose" in page.locator("tr.counts").inner_text()
        )
        page.goto(server.url)
        assert page.locator("tr.row").count() == 2 * wall.ROWS and not page.locator("#live").is_visible()
        page.locator("#choose-group").select_option("Group 4")
        page.click("#choose-show")
        assert page.locator("#focus h2").inner_text() == "Group 4" and not page.complaints


@pytest.mark.long
def test_a_too_large_upload_is_refused_with_its_reason_on_the_page(chromium, server, board, tmp_path):
    large = tmp_path / "notebook.ipynb"
    large.write_bytes(b" " * 30_000_000)
    with page_of(chromium, server, 1280, 900, token=board.tokens["Group 12"]) as page:
        page.goto(f"{server.url}/group")
        for name in ("random", "disjoint", "notebook"):
            page.set_input_files(f"[name={name}]", large)
        page.click("main button >> text='Hand in'")
        assert "clear the notebook's outputs" in page.locator("[role=alert]").inner_text()
        assert len(page.complaints) == 1 and "413" in page.complaints[0]


@pytest.mark.long
def test_the_instructor_works_by_forms(chromium, server, board):
    with page_of(chromium, server, 1280, 900, java_script_enabled=False) as page:
        page.goto(f"{server.url}/instructor")
        page.fill("[name=token]", board.instructor)
        page.click("main button >> text=Log in")
        page.fill("[name=per_day]", "7")
        page.click("text=Change the settings")
        assert "The settings have been changed" in page.locator(".done").inner_text()
        assert board.store.settings.read().per_day == 7
        row = page.locator("tr", has_text="Group 12").first
        row.locator("summary").click()
        row.locator("[name=reason]").fill("a copy of another")
        row.locator("button").click()
        assert "Withdrawn: a copy of another" in page.locator("#entries").inner_text()
        with page.expect_download() as download:
            page.click("text=Export as CSV")
        assert download.value.suggested_filename == "leaderboard.csv"
        page.click("text=Log out")
        page.goto(f"{server.url}/instructor")
        assert page.locator("[name=token]").count() == 1 and not page.complaints


@pytest.fixture(scope="module")
def named_chromium(chromium):
    """A browser that finds the board by a name, as students do."""
    flags = [*browser.FLAGS, f"--host-resolver-rules=MAP {HOST} 127.0.0.1"]
    started = chromium.browser_type.launch(executable_path=browser.CHROMIUM, args=flags)
    yield started
    started.close()


@pytest.mark.long
@pytest.mark.parametrize("count", [3, 12])
def test_a_wall_of_1920_by_1080_cuts_no_name_and_uses_its_lower_part(named_chromium, tmp_path, count):
    names = ["The Gradient Descenders of Reykjavík", "Ada & Grace", *(f"Group {n}" for n in range(3, count + 1))]
    board = BoardWithGroups(tmp_path, names)
    for n in range(1, count + 1):
        board.store.entries.accept(n, "k", make_patchy_entry(1, (0.05, 0.4), {"ranks": 4, "seconds": 1000.0}))
    board.score()
    board.verify(*["verified"] * (count - 1))
    context = named_chromium.new_context(viewport={"width": 1920, "height": 1080}, color_scheme="dark")
    with served(board) as server:
        page = context.new_page()
        page.goto(f"http://{HOST}:{server.port}/")
        cut = "e => e.scrollHeight > e.clientHeight + 1 || e.scrollWidth > e.clientWidth + 1 ? e.innerText : ''"
        links = page.locator("tr.row th.group a")
        assert [text for link in links.all() if (text := link.evaluate(cut))] == []
        box = page.locator("svg.qr").bounding_box()
        assert box["width"] >= 90 and box["y"] + box["height"] <= 1080, box
        bottoms = [box["y"] + box["height"] for box in (page.locator(each).bounding_box() for each in PARTS)]
        assert min(bottoms) > 0.97 * 1080, bottoms
        assert page.locator("tr.row td.training").first.inner_text().split() == ["4", "processes", "in", "1000", "s"]
        ground = page.locator(".map img").first.evaluate("e => getComputedStyle(e).backgroundColor")
        assert ground == "rgb(38, 45, 54)", "a map's pixels without a class are dark on a dark page"
        context.close()
