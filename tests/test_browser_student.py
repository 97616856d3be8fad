"""What surrounds a lab in JupyterLab, at the size of a small laptop: Validate, the hand-in button, sidebar, output."""

import contextlib
import json
import re

import pytest
from playwright.sync_api import TimeoutError, expect

from autograder.labs import build, source
from autograder.testing import browser

LAB = "01-regression"
RIGHT, WRONG = [c for c in build.solved(LAB).cells if source.is_task(c) and not source.is_quiz(c)][:2]
SMALL = {"width": 1366, "height": 768}
CONTRAST = """element => {  // of the text of this element against all backgrounds behind it, as WCAG 2.1 defines it
  const read = (text) => text.match(/[\\d.]+/g).map(Number);
  const layers = [];
  for (let e = element; e; e = e.parentElement) layers.unshift(read(getComputedStyle(e).backgroundColor));
  const behind = layers.reduce(
    (under, [r, g, b, a = 1]) => [r, g, b].map((value, i) => a * value + (1 - a) * under[i]), [255, 255, 255]);
  const linear = (value) => value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  const weigh = ([r, g, b]) => 0.2126 * linear(r / 255) + 0.7152 * linear(g / 255) + 0.0722 * linear(b / 255);
  const [dark, light] = [weigh(read(getComputedStyle(element).color)), weigh(behind)].sort((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}"""


@pytest.fixture(scope="module")
def shots(tmp_path_factory):
    """The folder of the screenshots, for people to look at."""
    return tmp_path_factory.mktemp("screenshots")


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """A copy of the course, open in JupyterLab in the dark theme: (folder, URL). In lab 01 one task is right."""
    browser.need_chromium()
    root = tmp_path_factory.mktemp("student")
    browser.copy_course(root)
    theme = root / "settings" / "@jupyterlab" / "apputils-extension" / "themes.jupyterlab-settings"
    with browser.jupyterlab(root, root / "settings") as url:
        theme.parent.mkdir(parents=True)
        theme.write_text(json.dumps({"theme": "JupyterLab Dark"}))
        path = root / "work" / LAB / f"{LAB}.ipynb"
        notebook = json.loads(path.read_text())
        for cell in notebook["cells"]:
            if cell["id"] == RIGHT.id:
                cell["source"] = RIGHT.source
            if cell["id"] == WRONG.id:
                cell["source"] = "raise ValueError('several words ' * 40)"
        path.write_text(json.dumps(notebook))
        yield root, url


@pytest.fixture(scope="module")
def chromium():
    with browser.start_chromium() as chromium:
        yield chromium


@pytest.fixture
def page(chromium):
    context = chromium.new_context(viewport=SMALL)
    page = context.new_page()
    page.set_default_timeout(browser.PATIENCE)
    page.on("pageerror", lambda error: pytest.fail(f"a script failed: {error}"))
    yield page
    context.close()


def get_focus(page):
    return page.evaluate("document.activeElement.innerText")


@pytest.mark.long
def test_the_sidebar_starts_closed_and_stays_as_the_reader_leaves_it(course, page, shots):
    browser.Notebook(page, course[1], f"{LAB}/{LAB}.ipynb")
    files = page.locator("#filebrowser")
    expect(files).to_be_hidden()
    page.screenshot(path=shots / "opened-dark.png")
    page.keyboard.press("Control+Shift+f")
    expect(files).to_be_visible()
    page.wait_for_timeout(3_000)  # JupyterLab saves its layout a little later
    page.reload()
    expect(files).to_be_visible()
    page.locator(".jp-NotebookPanel").wait_for()
    page.get_by_role("button", name="Validate").click()
    expect(files).to_be_hidden()  # there is no room for three columns


@pytest.mark.long
def test_validate_works_from_the_keyboard_and_jumps_to_the_tasks_cell(course, page, shots):
    browser.Notebook(page, course[1], f"{LAB}/{LAB}.ipynb")
    assert page.get_by_role("button", name="Validate").count() == 1  # nbgrader's is not there
    palette, panel = page.locator(".lm-CommandPalette-input"), page.locator(".dml-Validate")
    for _ in range(10):  # a page that is still loading swallows key presses, and its notebook takes the focus back
        page.keyboard.press("Control+Shift+c")
        with contextlib.suppress(TimeoutError):
            palette.fill("Validate", timeout=5_000)
            page.locator(".lm-CommandPalette-item").filter(has_text="Validate").first.wait_for(timeout=5_000)
            page.keyboard.press("Enter")
            panel.wait_for(timeout=5_000)
            break
    panel.get_by_text("by the visible checks").wait_for()
    page.screenshot(path=shots / "validate-dark.png")
    assert re.search(r"1 of \d+ tasks pass, 2 answers are empty, 1 of \d+ points", panel.inner_text())
    right, wrong = (panel.locator(f".dml-Task:has(.dml-Task-name:text-is('{c.id}'))") for c in (RIGHT, WRONG))
    assert right.inner_text().split()[:3] == [f"✓{RIGHT.id}", "passed", "1/1"]
    assert re.match(rf"✗{WRONG.id}\s+failed\s+0/\d: ValueError: several words", wrong.inner_text())
    for _ in range(panel.locator(".dml-Task").count()):
        page.keyboard.press("ArrowUp")
    assert get_focus(page).startswith("○opening")  # the quiz
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    active = page.locator(".jp-NotebookPanel:not(.lm-mod-hidden) .jp-Cell.jp-mod-active")
    expect(active).to_be_in_viewport()
    expect(active).to_contain_text(RIGHT.source.split("(")[0])
    page.wait_for_function("document.activeElement.closest('.jp-Notebook') !== null")
    page.screenshot(path=shots / "jumped-dark.png")


@pytest.mark.long
def test_a_collapsed_check_says_that_it_runs(course, page, shots):
    notebook = browser.Notebook(page, course[1], f"{LAB}/{LAB}.ipynb")
    task = notebook.find_cell(RIGHT.source.split("(")[0])
    slow = RIGHT.source.replace("\n    ", "\n    __import__('time').sleep(2)\n    ", 1)
    notebook.write(task, slow)
    notebook.run(task)
    page.keyboard.press("Shift+Enter")  # again, and on to the check, which stays collapsed; an arrow would skip it
    page.keyboard.press("Control+Enter")
    check = page.locator(".jp-CodeCell", has=page.locator(".jp-InputPlaceholder")).filter(has_text=RIGHT.id).first
    bar = check.locator(".jp-InputPlaceholder")
    read_mark = "bar => getComputedStyle(bar, '::after').content"
    expect(check).to_have_attribute("aria-busy", "true", timeout=browser.PATIENCE)
    assert bar.evaluate(read_mark) == '"running"'
    page.screenshot(path=shots / "running-dark.png")
    expect(check).not_to_have_attribute("aria-busy", "true", timeout=browser.PATIENCE)
    assert bar.evaluate(read_mark) == "none"
    expect(check).to_contain_text("passed")


@pytest.mark.long
def test_verdicts_are_readable_in_the_dark_theme(course, page, shots):
    notebook = browser.Notebook(page, course[1], f"{LAB}/{LAB}.ipynb")
    check = page.locator(".jp-CodeCell", has=page.locator(".jp-InputPlaceholder")).filter(has_text=RIGHT.id).first
    for answer, word in ((RIGHT.source, "passed"), ("line = None", "failed")):
        task = notebook.find_cell(RIGHT.source.split("(")[0])
        notebook.write(task, answer)
        page.keyboard.press("Shift+Enter")
        page.keyboard.press("Control+Enter")
        verdict = check.locator("[class*='ansi-']", has_text=word)
        verdict.wait_for()
        page.screenshot(path=shots / f"{word}-dark.png")
        assert verdict.evaluate(CONTRAST) >= 4.5  # WCAG 2.1 AA


@pytest.mark.long
def test_a_link_to_the_glossary_leads_to_its_entry_also_if_it_was_not_open(course, page, shots):
    browser.Notebook(page, course[1], f"{LAB}/{LAB}.ipynb")
    page.locator("a[href*='glossary.ipynb'][href$='#shard']").click()
    expect(page.locator(".jp-NotebookPanel:not(.lm-mod-hidden) [data-jupyter-id=shard]")).to_be_in_viewport()
    page.screenshot(path=shots / "glossary-dark.png")


@pytest.mark.long
def test_the_hand_in_button_works_after_a_restart_and_in_a_reopened_tab(course, page, chromium, shots):
    root, url = course
    notebook = browser.Notebook(page, url, f"{LAB}/{LAB}.ipynb")
    cell = notebook.find_cell("hand_in.button")
    notebook.run(cell)
    page.keyboard.press("0")
    page.keyboard.press("0")
    page.locator(".jp-Dialog").locator(".jp-mod-accept").click()
    notebook.wait_until_idle()
    hand_in(page, cell, "ada", shots / "after-restart-dark.png")
    page.keyboard.press("Control+s")
    page.close()
    # The kernel is gone, too, as after `course lab` was started again.
    again = chromium.new_context(viewport=SMALL).new_page()
    again.set_default_timeout(browser.PATIENCE)
    notebook = browser.Notebook(again, url, f"{LAB}/{LAB}.ipynb")
    cell = notebook.find_cell("hand_in.button")

    hand_in(again, cell, None, shots / "reopened-dark.png")
    files = sorted(path.name for path in (root / "work" / "hand-ins").iterdir())
    assert len(files) == 2 and all(name.startswith(f"{LAB}_ada_attempt_") for name in files)
    again.context.close()


def hand_in(page, cell, student, shot):
    """Hand in with the keyboard; first go back once. student: the id to write, None if it must be there."""
    button = cell.get_by_role("button", name="Hand in 01")
    for choice in ("Go back and work on", "Hand in now"):
        button.focus()
        page.keyboard.press("Enter")
        field = cell.get_by_label("Student id")
        field.wait_for()
        if student is None:
            expect(field).to_have_value("ada")
        else:
            field.fill("")
            field.press_sequentially(student)  # letters are commands of the notebook, but not here
        expect(cell.locator(".dml-Status")).to_contain_text("by the visible checks")
        page.screenshot(path=shot)
        chosen = cell.get_by_role("button", name=choice)
        chosen.focus()
        page.keyboard.press("Enter")
        chosen.wait_for(state="detached")
        expect(button).to_be_focused()
        if choice.startswith("Go"):
            expect(cell.locator(".dml-Status")).to_contain_text("Nothing was handed in")
    expect(cell.locator(".dml-Status")).to_contain_text("Send it to: your instructor")
    active = page.locator(".jp-NotebookPanel:not(.lm-mod-hidden) .jp-Cell.jp-mod-active")
    page.keyboard.press("Escape")  # back to the notebook, whose keys work again
    page.keyboard.press("ArrowUp")
    expect(active).to_contain_text("The button saves this notebook")


@pytest.mark.long
def test_an_error_breaks_between_words(course, page, shots):
    notebook = browser.Notebook(page, course[1], f"{LAB}/{LAB}.ipynb")
    cell = notebook.find_cell("several words")
    notebook.run(cell)
    output = cell.locator(".jp-RenderedText pre").last
    assert output.evaluate("e => getComputedStyle(e).wordBreak") == "normal"
    assert output.evaluate("e => e.scrollWidth <= e.clientWidth + 1")
    output.scroll_into_view_if_needed()
    page.screenshot(path=shots / "error-dark.png")
