"""nbgrader's formgrader in a real browser, on a class made by `course grade`: points by hand, and new feedback."""

import re
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from playwright.sync_api import expect

from autograder.gradebook import formgrader
from autograder.gradebook.folder import ClassFolder
from autograder.labs import source
from autograder.reports import graded, inert
from autograder.testing import browser
from autograder.testing.mini_lab import LAB, MINI, MiniLab, put, run
from course.command import main

NOT_SERVED = [
    "/lab", "/tree", "/notebooks/x.ipynb", "/edit/x", "/terminals/1", "/files/gradebook.db", "/files/x",
    "/view/x", "/nbconvert/html/x.ipynb", "/metrics", "/login", "/logout", "/services/", "/api", "/api/status",
    "/api/terminals", "/api/kernels", "/api/kernelspecs", "/api/sessions", "/api/contents", "/api/contents/x.ipynb",
    "/api/config/x", "/api/nbconvert", "/api/shutdown", "/api/me", "/api/spec.yaml", "/api/events",
    "/formgrader/submissions/components/x", "/formgrader/static/../base.py", "/formgrader/nothing",
]  # fmt: skip
ANSWER = r"""Because every **rank** has the *same* sum, $\frac{1}{k} \sum_{i=1}^k g_i$ with \(x_1 < 2\):

$$\theta \leftarrow \theta - \eta \nabla R$$

- one `all_reduce` per step, if a < b & c > d
- it costs \$5 or \$6

| ranks | bytes |
|-------|-------|
| 4     | 1024  |
"""


@pytest.fixture(scope="module")
def class_(tmp_path_factory):
    """A class with two graded hand-ins, one with a written answer."""
    browser.need_chromium()
    patch, mini, root = pytest.MonkeyPatch(), MiniLab(), tmp_path_factory.mktemp("formgrader")
    patch.setattr(source, "SOLUTIONS", MINI)
    put(root / "hand-ins", "ann", mini.hand_in(why=ANSWER))
    put(root / "hand-ins", "bob", mini.hand_in(add="def add(x, y): return x - y", why="No idea."))
    assert run(root / "hand-ins", root / "class")[0] == 0
    yield root / "class"
    patch.undo()


@pytest.fixture(scope="module")
def page(class_):
    """formgrader as an instructor opens it: `course formgrader`, and the address that it prints."""
    with browser.formgrader(class_) as address, browser.start_chromium() as chromium:
        page = chromium.new_page(viewport={"width": 1280, "height": 1000}, base_url=address.split("/formgrader")[0])
        page.set_default_timeout(browser.PATIENCE)
        page.goto(address)
        yield page


@pytest.mark.long
def test_points_given_by_hand_in_formgrader_reach_the_students_page(class_, page, tmp_path_factory):
    shots = tmp_path_factory.mktemp("screenshots")  # to be looked at
    feedback = class_ / "feedback" / "ann" / LAB / f"{LAB}.html"
    assert "5 of 7 points" in feedback.read_text()
    page.goto(f"/formgrader/gradebook/{LAB}/{LAB}")
    expect(page.locator("tbody tr")).to_have_count(2)
    page.screenshot(path=shots / "gradebook.png")
    page.locator("tr", has_text="5 / 7").locator("a[href*='/submissions/']:visible").click()
    expect(page.locator("input.score")).to_have_count(3)
    page.screenshot(path=shots / "submission.png", full_page=True)
    by_hand = page.locator("input.score:not([placeholder])").or_(page.locator("input.score")).last
    by_hand.fill("1.5")
    by_hand.press("Tab")
    page.wait_for_load_state("networkidle")
    page.screenshot(path=shots / "scored.png", full_page=True)
    page.goto(f"/formgrader/manage_submissions/{LAB}")
    row = page.locator("tr", has_text="ann")
    expect(row).to_contain_text("6.5 / 7")
    row.locator(".generate-feedback a").click()
    expect(page.locator(".modal-body")).to_contain_text("Successfully")
    page.screenshot(path=shots / "feedback.png")
    assert "6.5 of 7 points" in feedback.read_text()


@pytest.mark.long
def test_a_comment_is_kept_and_names_are_shown_on_request_and_a_key_leads_to_the_next_hand_in(class_, page):
    open_submission(page, "ann")
    comment = page.locator("textarea.comment").last
    comment.fill("Well <b>said</b>.")
    with page.expect_response(lambda response: "/api/comment/" in response.url):
        comment.press("Tab")
    page.reload()
    expect(page.locator("textarea.comment").last).to_have_value("Well <b>said</b>.")
    page.locator(".glyphicon-eye-open").click()
    expect(page.locator("a.name-shown")).to_have_text("ann")
    expect(page.locator("a.name-shown")).not_to_have_attribute("href", re.compile(".*"))  # there is no notebook to open
    before = page.url
    page.locator("input.score").first.click()
    page.keyboard.press("Control+.")
    page.wait_for_url(lambda url: url.split("?")[0] != before.split("?")[0])


@pytest.mark.long
def test_a_hand_in_is_autograded_again_by_its_button(class_, page):
    page.goto(f"/formgrader/manage_submissions/{LAB}")
    graded = ClassFolder(class_).autograded("bob", LAB)
    graded.unlink()
    page.locator("tr", has_text="bob").locator(".autograde a").click()
    expect(page.locator(".modal-body")).to_contain_text("Successfully autograded")
    assert inert.read_text(find_answer(graded)) == "No idea." and inert.is_inert(find_answer(graded))


@pytest.mark.long
def test_the_links_that_add_a_student_and_an_assignment_open_their_forms(page):
    for place, link in (("manage_students", "Add new student..."), ("manage_assignments", "Add new assignment...")):
        page.goto(f"/formgrader/{place}")
        page.get_by_role("link", name=link).click()
        expect(page.locator(".modal input").first).to_be_visible()


@pytest.mark.long
def test_maths_and_harmless_markdown_of_an_answer_are_shown_in_formgrader_and_on_the_feedback_page(class_, page):
    open_submission(page, "ann")
    assert_answer_is_shown(page.locator(".nbgrader_cell").last.locator(".rendered_html"))
    page.goto(ClassFolder(class_).feedback_page("ann", LAB).as_uri())
    assert_answer_is_shown(page.locator(".answer"))


def test_nothing_but_formgrader_is_served_and_that_only_with_the_token(class_):
    with browser.formgrader(class_) as address:
        parts = urlsplit(address)
        base, token = f"http://{parts.netloc}", parse_qs(parts.query)["token"][0]
        client = httpx.Client(base_url=base, headers={"Authorization": f"token {token}"}, trust_env=False)
        for path in NOT_SERVED:
            for method in ("GET", "PUT", "POST", "DELETE"):
                assert client.request(method, path, json={}).status_code in (403, 404, 405), (method, path)
            assert client.get(path).status_code == 404, path
        page = client.get("/formgrader/manage_assignments")
        assert page.is_success and "script-src 'nonce-" in page.headers["Content-Security-Policy"]
        other = client.get("/formgrader/manage_assignments")
        assert other.headers["Content-Security-Policy"] != page.headers["Content-Security-Policy"]
        for path in ("/", "/formgrader", "/formgrader/manage_assignments", "/formgrader/api/students"):
            assert httpx.get(base + path, trust_env=False).status_code == 403, path
            assert client.get(path, headers={"Host": "evil.example"}).status_code == 403, path
        # the folder with another configuration, which is Python, is not looked at
        assert client.get(f"/formgrader?path={class_.parent}").headers["Location"] == "/formgrader/manage_assignments"
        submission = client.get(f"/formgrader/api/submitted_notebooks/{LAB}/{LAB}").json()[0]["id"]
        for name in ("evil.js", "evil.html"):
            (ClassFolder(class_).autograded("ann", LAB).parent / name).write_text("<script>alert(1)</script>")
            assert client.get(f"/formgrader/submissions/{submission}/{name}").status_code == 404


def test_formgrader_says_in_one_sentence_why_it_cannot_start(class_, tmp_path, capsys):
    assert main(["formgrader", str(tmp_path / "no-class"), "--port", "0"]) == 1
    assert "is not the folder of a class" in capsys.readouterr().err
    assert not (tmp_path / "no-class").exists()
    with formgrader.listen(0) as listener:
        port = listener.getsockname()[1]
        assert main(["formgrader", str(class_), "--port", str(port)]) == 1
    error = capsys.readouterr().err
    assert f"port {port}" in error and "--port" in error and error.count("\n") == 1
    assert main(["formgrader", str(class_), "--port", "70000"]) == 1
    assert "70000" in capsys.readouterr().err


def open_submission(page, student):
    """Open the page on which the hand-in of `student` is graded."""
    page.goto(f"/formgrader/manage_students/{student}/{LAB}")
    page.locator("a[href*='/submissions/']").click()
    expect(page.locator("input.score")).to_have_count(3)
    page.wait_for_load_state("networkidle")  # until then nothing that is typed is saved


def find_answer(path):
    """The written answer in the graded notebook at `path`."""
    return next(cell for cell in graded.read_notebook(path).cells if cell.id == "why")


def assert_answer_is_shown(place):
    """The browser draws ANSWER as it is meant, formulas included."""
    expect(place.locator("strong", has_text="rank")).to_be_visible()
    expect(place.locator("em", has_text="same")).to_be_visible()
    expect(place.locator("li code", has_text="all_reduce")).to_be_visible()
    expect(place.locator("td", has_text="1024")).to_be_visible()
    expect(place).to_contain_text("if a < b & c > d")
    expect(place).to_contain_text("it costs $5 or $6")
    expect(place.locator("math")).to_have_count(3)
    assert place.locator("math[display=block]").evaluate("e => getComputedStyle(e).display").startswith("block")
    top, bottom = (place.locator("mfrac > *").nth(number).bounding_box() for number in (0, 1))
    assert top["y"] + top["height"] <= bottom["y"], "a fraction has a numerator above its denominator"
    assert "\\frac" not in place.inner_text() and "\\(" not in place.inner_text()
