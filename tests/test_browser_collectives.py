"""A deadlock on real engines, in JupyterLab: its report, its repair and the timeline, and the interrupt button."""

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook
from playwright.sync_api import expect

from autograder.labs import source
from autograder.testing import browser

GIVEN = """%load_ext course
import numpy as np

from course import cluster
from course.spmd import spmd

cluster.prepare(4)
xs = [np.full(1000, float(rank)) for rank in range(4)]"""
HANGS = """def shift(comm, x):
    right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
    comm.send(x, dest=right)
    return comm.recv(np.empty_like(x), source=left)"""
HANGS_LATER = HANGS.replace(
    "    comm.send(x", "    comm.sendrecv(x, right, recvbuf=np.empty_like(x), source=left)\n    comm.send(x"
)
REPAIRED = """def shift(comm, x):
    right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
    return comm.sendrecv(x, dest=right, recvbuf=np.empty_like(x), source=left)"""
CHECK = """got = spmd(shift, xs, ranks=4)
assert [each[0] for each in got] == [3, 0, 1, 2], "each rank returns its left neighbour's x" """
FOREVER = """def forever(comm):
    print("begun")
    while True:
        pass


spmd(forever, ranks=4, timeout=600)"""
CELLS = {
    "given": GIVEN,
    "shift": HANGS,
    "shift-check": CHECK,
    "plain": "spmd(shift, xs, ranks=4)[1][:3]",
    "timeline": "spmd(shift, xs, ranks=4).trace.timeline()",
    "forever": FOREVER,
}
CAUSE = "Ranks 0, 1, 2 and 3 all send and none of them receives"


@pytest.fixture(scope="module")
def shots(tmp_path_factory):
    """The folder of the screenshots, for people to look at."""
    return tmp_path_factory.mktemp("screenshots")


@pytest.fixture(scope="module")
def notebook(tmp_path_factory):
    """A notebook with the cells above, open in a browser."""
    browser.need_chromium()
    root = tmp_path_factory.mktemp("student")
    browser.copy_course(root)
    lab = root / "labs" / "99-hang" / "99-hang.ipynb"
    lab.parent.mkdir()
    cells = [new_code_cell(source, id=name) for name, source in CELLS.items()]
    nbformat.write(new_notebook(cells=cells, metadata=source.METADATA), lab)
    with browser.jupyterlab(root, root / "settings") as url, browser.start_chromium() as chromium:
        page = chromium.new_page(viewport={"width": 1280, "height": 1400})
        page.set_default_timeout(browser.PATIENCE)
        yield browser.Notebook(page, url, "99-hang/99-hang.ipynb")


def find_cell(notebook, name):
    return notebook.page.locator(".jp-NotebookPanel .jp-CodeCell").nth(list(CELLS).index(name))


def test_a_deadlock_on_engines_shows_its_cause_and_its_ring(notebook, shots):
    notebook.run(find_cell(notebook, "given"))
    notebook.run(find_cell(notebook, "shift"))
    for name, first in (("plain", CAUSE), ("shift-check", f"✗ shift failed: {CAUSE}")):
        here = find_cell(notebook, name)
        notebook.run(here)
        report = here.locator(".jp-OutputArea-output").last.inner_text().strip()
        lines = report.splitlines()
        assert lines[0].startswith(first), report
        assert "rank 0 waits for rank 1 to receive 1000 × float64" in lines[1] and "of `shift`" in lines[1], report
        assert any(line.strip() == "ring of waits: 0 → 1 → 2 → 3 → 0" for line in lines), report
        assert "Traceback" not in report
        assert here.locator("figure").count() == 0  # no message was sent, so there is nothing to see
        here.scroll_into_view_if_needed()
        notebook.page.screenshot(path=shots / f"hang-{name}.png")


def test_a_verdict_stays_in_view_above_its_picture_when_the_next_cell_is_selected(notebook, shots):
    page, here = notebook.page, find_cell(notebook, "shift-check")
    page.set_viewport_size({"width": 1366, "height": 768})
    notebook.write(find_cell(notebook, "shift"), HANGS_LATER)
    page.keyboard.press("Shift+Enter")
    page.keyboard.press("Shift+Enter")
    here.locator("figure img").wait_for()
    expect(here.get_by_text("shift failed", exact=False).first).to_be_in_viewport()
    page.wait_for_timeout(1_000)
    expect(here.get_by_text("shift failed", exact=False).first).to_be_in_viewport()
    page.screenshot(path=shots / "verdict-in-view.png")
    page.set_viewport_size({"width": 1280, "height": 1400})


def test_the_repaired_function_passes_and_its_timeline_is_drawn(notebook, shots):
    notebook.write(find_cell(notebook, "shift"), REPAIRED)
    notebook.run(find_cell(notebook, "shift"))
    assert "✓ shift passed" in notebook.run(find_cell(notebook, "shift-check"))
    here = find_cell(notebook, "timeline")
    notebook.run(here)
    picture = here.locator("figure img")
    picture.wait_for()
    assert picture.get_attribute("alt").startswith("Picture: Timeline of 4 ")
    caption, details = here.locator("figcaption"), here.locator("figcaption details")
    assert len(caption.inner_text().splitlines()) <= 3 and details.get_attribute("open") is None
    here.scroll_into_view_if_needed()
    notebook.page.screenshot(path=shots / "timeline.png")
    details.locator("summary").focus()
    notebook.page.keyboard.press("Enter")
    assert "Rank 0: messages:" in details.inner_text()
    notebook.page.screenshot(path=shots / "timeline-words.png")


def test_pictures_turn_dark_with_the_theme(notebook, shots):
    picture = find_cell(notebook, "timeline").locator("figure img")
    assert picture.evaluate("image => getComputedStyle(image).filter") == "none"
    for name, is_dark in (("JupyterLab Dark", True), ("JupyterLab Light", False)):
        notebook.page.keyboard.press("Control+Shift+c")
        notebook.page.locator(".lm-CommandPalette-input:visible").wait_for()
        notebook.page.keyboard.type(name, delay=30)
        notebook.page.locator(".lm-CommandPalette-item", has_text=f"Use Theme: {name}").first.click()
        notebook.page.locator(f'body[data-jp-theme-name="{name}"]').wait_for(state="attached")
        assert ("invert" in picture.evaluate("image => getComputedStyle(image).filter")) == is_dark
        picture.scroll_into_view_if_needed()
        notebook.page.screenshot(path=shots / f"timeline-{name.split()[1].lower()}.png")


def test_the_interrupt_button_stops_a_run_on_engines_and_the_next_cell_works(notebook, shots):
    here = find_cell(notebook, "forever")
    here.locator(".jp-InputPrompt").first.click()
    notebook.page.keyboard.press("Control+Enter")
    here.get_by_text("[rank 3] begun").wait_for()
    notebook.page.locator("[data-command='notebook:interrupt-kernel'], [title^='Interrupt the kernel']").first.click()
    notebook.wait_until_idle()
    output = here.locator(".jp-OutputArea").inner_text()
    assert "computing when the run was stopped" in output and "Interrupted: the ranks have stopped too." in output
    assert "Traceback" not in output
    here.scroll_into_view_if_needed()
    notebook.page.screenshot(path=shots / "interrupted.png")
    assert "✓ shift passed" in notebook.run(find_cell(notebook, "shift-check"))
