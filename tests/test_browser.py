"""Labs in JupyterLab in a real browser: lab 01, wrong first and then right, validated and handed in; maps of lab 09."""

import re

import nbformat
import psutil
import pytest
from playwright.sync_api import expect

from autograder.labs import answers, build, source
from autograder.testing import browser

LAB = "01-regression"


@pytest.fixture(scope="module")
def shots(tmp_path_factory):
    """The folder of the screenshots, for people to look at."""
    return tmp_path_factory.mktemp("screenshots")


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """A copy of the course, open in JupyterLab: (folder, URL). Nothing of it runs any more at the end."""
    browser.need_chromium()
    root = tmp_path_factory.mktemp("student")
    browser.copy_course(root)
    with browser.jupyterlab(root, root / "settings") as url:
        yield root, url
    assert [
        p.cmdline() for p in psutil.process_iter(["cmdline"]) if str(root) in " ".join(p.info["cmdline"] or [])
    ] == []


@pytest.fixture(scope="module")
def page(course):
    with browser.start_chromium() as chromium:
        page = chromium.new_page(viewport={"width": 1280, "height": 1000})
        page.set_default_timeout(browser.PATIENCE)
        yield page


@pytest.mark.long
def test_the_index_checks_the_machine(course, page, shots):
    notebook = browser.Notebook(page, course[1], "index.ipynb")
    report = notebook.run(notebook.find_cell("doctor.check"))
    assert "engines" in report.lower()
    page.screenshot(path=shots / "index.png")


@pytest.mark.long
def test_lab_01_wrong_first_then_right(course, page, shots):
    """Each task gets a wrong answer, whose check shows the hint, and then the right one, whose checks pass."""
    notebook = browser.Notebook(page, course[1], f"{LAB}/{LAB}.ipynb")
    solution = build.solved(LAB)
    bars = page.locator(".jp-NotebookPanel:not(.lm-mod-hidden) .jp-InputPlaceholder")
    expect(bars).to_have_count(sum(map(source.is_check, solution.cells)))  # all checks are collapsed, and nothing else
    assert bars.first.inner_text().strip().startswith("# check: opening, ")
    page.screenshot(path=shots / "opened.png")
    wrong = [answer for answer in answers.read_all(LAB, solution)[0] if not answer.right]
    of_check = source.tasks_of_checks(solution.cells)
    # The page has the lab's cells in the lab's order, and they appear one after another.
    cells = page.locator(".jp-NotebookPanel:not(.lm-mod-hidden) .jp-Cell")
    expect(cells).to_have_count(len(solution.cells), timeout=browser.PATIENCE)
    for number, cell in enumerate(solution.cells):
        here = cells.nth(number)
        if cell.cell_type == "code" and source.nbgrader(cell).get("locked") and not source.is_check(cell):
            notebook.run(here)
        elif source.is_task(cell):
            task, line = cell.id, here
            checks = [n for n, c in enumerate(solution.cells) if of_check.get(c.id) == task]
            # Some mistakes are found by hidden tests only.
            wrong_here = [answer for answer in wrong if answer.task == task]
            for answer in wrong_here:
                notebook.write(line, answer.source)
                notebook.run(line)
                losing = next(n for n in checks if solution.cells[n].id in answer.loses)
                if answer.hint in notebook.run(cells.nth(losing)):
                    page.screenshot(path=shots / f"wrong-{task}.png")
                    break
            else:
                assert not wrong_here, f"no hint for any wrong answer of {task}"
            notebook.write(line, cell.source)
            notebook.run(line)
            for check in checks:
                verdict = notebook.run(cells.nth(check))
                assert re.search(r"^✓ \S+ passed: .* points?(?: of extra credit)?\. Lab 1: ", verdict, re.MULTILINE), (
                    solution.cells[check].id
                )
        elif source.is_measure(cell) and "plots." in cell.source and "engines" not in cell.source:
            notebook.run(here)
            assert here.locator("figure img[alt]").count() >= 1, cell.source
            page.screenshot(path=shots / f"picture-{number}.png")


@pytest.mark.long
def test_validate_names_the_open_questions_and_the_button_hands_in(course, page, shots):
    root, _ = course
    panel = page.locator(".jp-NotebookPanel:not(.lm-mod-hidden)")
    panel.get_by_role("button", name="Validate").click()
    found = page.locator(".dml-Validate")
    # Both written answers are still missing, and everything else is right.
    found.get_by_text("2 answers are empty").wait_for()
    page.screenshot(path=shots / "validate.png")
    assert re.search(r"(\d+) of \1 tasks pass, 2 answers are empty", found.inner_text())
    assert found.locator(".dml-mod-empty").count() == 2 and found.locator(".dml-mod-failed").count() == 0
    notebook_cells = panel.locator(".jp-Cell")
    last = notebook_cells.nth(notebook_cells.count() - 1)
    last.locator(".jp-InputPrompt").first.click()
    page.keyboard.press("Control+Enter")
    last.get_by_role("button", name="Hand in").click()
    last.get_by_label("Student id").fill("ada")
    last.get_by_role("button", name="Hand in now").click()
    last.get_by_text("Send it to: your instructor").wait_for()
    page.screenshot(path=shots / "handed-in.png")
    (handed_in,) = (root / "work" / "hand-ins").iterdir()
    notebook = nbformat.read(handed_in, as_version=4)
    assert {c.source for c in notebook.cells} >= {c.source for c in build.solved(LAB).cells if source.is_task(c)}
    assert notebook.metadata["course"]["student"] == "ada"


@pytest.mark.long
def test_the_maps_of_lab_09_are_drawn_from_the_students_own_functions(course, page, shots):
    lab = "09-competition"
    notebook = browser.Notebook(page, course[1], f"{lab}/{lab}.ipynb")
    solution = build.solved(lab)
    cells = page.locator(".jp-NotebookPanel:not(.lm-mod-hidden) .jp-Cell")
    expect(cells).to_have_count(len(solution.cells), timeout=browser.PATIENCE)
    drawn = 0
    for number, cell in enumerate(solution.cells):
        here = cells.nth(number)
        if source.is_task(cell):
            notebook.write(here, cell.source)
            notebook.run(here)
        elif source.is_given(cell):
            notebook.run(here)
        elif source.is_measure(cell) and "plots.maps(" in cell.source:
            notebook.run(here)
            pictures = here.locator("figure img")
            captions = here.locator("figure figcaption").all_text_contents()
            assert "%" in captions[-1], (cell.source, captions)
            assert min(pictures.evaluate_all("all => all.map(e => e.naturalWidth)")) > 300
            here.locator("figure").last.screenshot(path=shots / f"map-{number}.png")
            drawn += 1
    assert drawn == sum("plots.maps(" in cell.source for cell in solution.cells)
