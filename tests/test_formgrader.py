"""nbgrader's formgrader in a real browser, on a class made by `course grade`: points by hand, and new feedback."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from playwright.sync_api import expect

from autograder.labs import source
from autograder.testing import browser
from autograder.testing.mini_lab import LAB, MINI, MiniLab, put, run


@pytest.fixture(scope="module")
def class_(tmp_path_factory):
    """A class with two graded hand-ins, one with a written answer."""
    browser.need_chromium()
    patch, mini, root = pytest.MonkeyPatch(), MiniLab(), tmp_path_factory.mktemp("formgrader")
    patch.setattr(source, "SOLUTIONS", MINI)
    put(root / "hand-ins", "ann", mini.hand_in(why="Because every rank has the same sum."))
    put(root / "hand-ins", "bob", mini.hand_in(add="def add(x, y): return x - y", why="No idea."))
    assert run(root / "hand-ins", root / "class")[0] == 0
    yield root / "class"
    patch.undo()


@pytest.fixture(scope="module")
def page(class_):
    """formgrader as an instructor opens it: JupyterLab in the class's folder, then its first page."""
    environment = os.environ | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    log = class_.parent / "jupyterlab.log"
    with log.open("w") as file:
        process = subprocess.Popen(
            [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", "--ip=127.0.0.1", "--port=0"],
            cwd=class_, env=environment, stdout=file, stderr=subprocess.STDOUT, start_new_session=True,
        )  # fmt: skip
    try:
        first = re.sub(r"/(lab|tree)?\?", "/formgrader?", browser.wait_for_address(process, log))
        with browser.start_chromium() as chromium:
            page = chromium.new_page(viewport={"width": 1280, "height": 1000}, base_url=first.split("/formgrader")[0])
            page.set_default_timeout(browser.PATIENCE)
            page.goto(first)
            yield page
    finally:
        process.terminate()
        process.wait(60)


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
