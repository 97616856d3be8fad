"""JupyterLab and formgrader, started as people start them, and a real browser that works in them as people do."""

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from playwright.sync_api import TimeoutError, expect, sync_playwright

from course.home import HOME

CHROMIUM = "/usr/bin/chromium"
FLAGS = [  # with these it contacts no other machine by itself
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip
PATIENCE = 90_000  # ms; generous, because nothing here is a measurement


def need_chromium():
    """Skip the test if there is no browser."""
    if not Path(CHROMIUM).exists():
        pytest.skip("chromium is not installed: install Debian's package chromium")


@contextlib.contextmanager
def jupyterlab(root, settings):
    """Run `course lab` in the folder `root`; yields the URL that it prints, and ends it with one Ctrl-C."""
    settings.mkdir(parents=True)
    tracker = settings / "@jupyterlab" / "notebook-extension" / "tracker.jupyterlab-settings"
    tracker.parent.mkdir(parents=True)
    # The page then contains all cells, also those out of sight, so that a test can look at them.
    tracker.write_text(json.dumps({"windowingMode": "none"}))
    environment = os.environ | {
        "BROWSER": "true",
        "PYTHONPATH": str(root),
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "JUPYTERLAB_SETTINGS_DIR": str(settings),
        "JUPYTERLAB_WORKSPACES_DIR": str(settings / "workspaces"),
    }
    log = (root / "jupyterlab.log").open("w+")
    process = subprocess.Popen(
        [sys.executable, "-m", "course.command", "lab"],
        cwd=root, env=environment, stdout=log, stderr=subprocess.STDOUT, start_new_session=True,
    )  # fmt: skip
    try:
        yield wait_for_address(process, root / "jupyterlab.log")
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGINT)
        process.wait(60)
        log.close()


@contextlib.contextmanager
def formgrader(class_):
    """Run `course formgrader` on the class in the folder `class_`; yields the URL that it prints.

    Ends it with one Ctrl-C, after which it must exit without an error.
    """
    log = class_.parent / "formgrader.log"
    with log.open("w") as file:
        process = subprocess.Popen(
            [sys.executable, "-m", "course.command", "formgrader", str(class_), "--port", "0", "--no-browser"],
            stdout=file, stderr=subprocess.STDOUT, start_new_session=True,
        )  # fmt: skip
    try:
        yield wait_for_address(process, log)
    finally:
        process.send_signal(signal.SIGINT)
        status = process.wait(60)
    assert status == 0 and "Traceback" not in log.read_text(), log.read_text()


def wait_for_address(process, log):
    """Wait until a server has printed its URL with the token into the file `log`; returns it."""
    end = time.monotonic() + PATIENCE / 1000
    while time.monotonic() < end and process.poll() is None:
        match = re.search(r"http://(?:127\.0\.0\.1|localhost):\d+/\S*token=\w+", log.read_text())
        if match:
            return match[0]
        time.sleep(0.1)
    raise AssertionError(f"the server did not start:\n{log.read_text()}")


def copy_course(folder):
    """Copy what students receive into `folder`, so that no test touches the work/ of this clone."""
    for name in ("course", "labs", "datasets"):
        shutil.copytree(HOME / name, folder / name)


class Notebook:
    """A notebook that is open in the browser. `cell` stands for a locator of one of its cells."""

    def __init__(self, page, url, path):
        self.page = page
        base, query = url.split("?", 1)
        page.goto(f"{base.split('/lab')[0]}/lab/tree/{path}?reset&{query}")
        page.wait_for_selector(".jp-Notebook .jp-Cell", timeout=PATIENCE)
        self.wait_until_idle()

    def wait_until_idle(self):
        """Wait until the kernel is idle."""
        self.page.wait_for_selector(
            ".jp-NotebookPanel:not(.lm-mod-hidden) .jp-Notebook-ExecutionIndicator[data-status='idle']",
            timeout=PATIENCE,
        )

    def find_cell(self, words):
        """The first code cell whose source contains these words."""
        cells = self.page.locator(".jp-NotebookPanel:not(.lm-mod-hidden) .jp-CodeCell")
        return cells.filter(has=self.page.locator(".jp-InputArea", has_text=words)).first

    def write(self, cell, source):
        """Replace the cell's content by `source`, as pasting it does."""
        cell.locator(".cm-content").click()
        self.page.keyboard.press("Control+a")
        self.page.keyboard.insert_text(source)

    def run(self, cell):
        """Run a cell; returns the text of its output. One whose source is collapsed is opened first."""
        bar = cell.locator(".jp-InputPlaceholder")
        if bar.count():
            bar.click()
        prompt = cell.locator(".jp-InputPrompt").first
        before = prompt.inner_text()
        for _ in range(10):  # a page that is still loading swallows key presses
            self.close_dialogs()
            with contextlib.suppress(TimeoutError):
                prompt.click(timeout=PATIENCE / 10)
                self.page.keyboard.press("Control+Enter")
                self.wait_for_change(prompt, before, r"\[.*\]", 3_000)
                break
        self.wait_for_change(prompt, before, r"\[\d+\]", PATIENCE)
        self.wait_until_idle()
        return "\n".join(cell.locator(".jp-OutputArea-output").all_inner_texts())

    def close_dialogs(self):
        """Close what JupyterLab has opened by itself; prints its text, for the report of a test that fails."""
        for dialog in self.page.locator(".jp-Dialog").all():
            print("JupyterLab says:", dialog.inner_text())
            self.page.keyboard.press("Escape")

    def wait_for_change(self, prompt, before, pattern, patience):
        """Wait until the prompt matches `pattern` and is no longer `before`. patience: milliseconds."""
        self.page.wait_for_function(
            "([e, before, pattern]) => e.innerText !== before && new RegExp(pattern).test(e.innerText)",
            arg=[prompt.element_handle(), before, pattern],
            timeout=patience,
        )


@contextlib.contextmanager
def start_chromium():
    """Start a browser; yields it."""
    need_chromium()
    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


def assert_harmless_and_readable(browser, path, shots):
    """Open the page in the file `path` as on a phone and as on a screen: it runs, fetches and clips nothing.

    The page's own content security policy is switched off, so that the page must be harmless without it.
    """
    for width in (360, 1200):
        context = browser.new_context(viewport={"width": width, "height": 900}, bypass_csp=True)
        page, urls = context.new_page(), []
        page.on("request", lambda request, urls=urls: urls.append(request.url))
        page.on("dialog", lambda dialog: pytest.fail(f"a script ran: {dialog.message}"))
        page.goto(path.as_uri())
        page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true")
        assert [url[:60] for url in urls if not url.startswith("data:image/png")] == [path.as_uri()[:60]]
        assert page.evaluate("document.scripts.length") == 0 and page.title() != "owned"
        assert page.locator("[onerror], [onload], [onclick], a[href^='javascript:'], iframe, svg, object").count() == 0
        assert page.locator("img:not([alt])").count() == 0 and page.locator("main h1").count() == 1
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        wide = "e => e.scrollWidth > e.clientWidth + 1 && e.clientWidth > 0"
        assert page.evaluate(f"[...document.querySelectorAll('pre, p, li, h1, h2, h3, td')].filter({wide}).length") == 0
        page.screenshot(path=shots / f"{path.stem}-{width}.png", full_page=True)
        context.close()
