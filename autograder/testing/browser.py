"""A real JupyterLab, started as students start it, and a real browser that works in it as they do."""

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
from playwright.sync_api import TimeoutError, sync_playwright

from course.home import HOME

CHROMIUM = "/usr/bin/chromium"
FLAGS = [  # with these it contacts no other machine by itself
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip
PATIENCE = 90_000  # ms; a loaded machine is slow, and nothing here is a measurement


def need_chromium():
    """Skip where there is no browser; in continuous integration its absence is a failure."""
    if not Path(CHROMIUM).exists():
        if os.environ.get("CI") == "true":
            pytest.fail("chromium is missing: install Debian's package of that name")
        pytest.skip("chromium is not installed (Debian's package of that name)")


@contextlib.contextmanager
def jupyterlab(root, settings):
    """`course lab` in the folder `root`: yields the URL it prints; ends it with one Ctrl-C."""
    settings.mkdir(parents=True)
    tracker = settings / "@jupyterlab" / "notebook-extension" / "tracker.jupyterlab-settings"
    tracker.parent.mkdir(parents=True)
    # all cells in the page, also those out of sight, so that a test can look at them
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
        yield address(process, root / "jupyterlab.log")
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGINT)
        process.wait(60)
        log.close()


def address(process, log):
    """The URL with its token, once JupyterLab has printed it."""
    end = time.monotonic() + PATIENCE / 1000
    while time.monotonic() < end and process.poll() is None:
        found = re.search(r"http://(?:127\.0\.0\.1|localhost):\d+/\S*token=\w+", log.read_text())
        if found:
            return found[0]
        time.sleep(0.1)
    raise AssertionError(f"JupyterLab did not come up:\n{log.read_text()}")


def copy_of_the_course(folder):
    """What students receive, in `folder`, so that nobody's own work/ is touched."""
    for name in ("course", "labs", "datasets"):
        shutil.copytree(HOME / name, folder / name)


class Notebook:
    """One notebook open in the browser, worked in by mouse and keyboard."""

    def __init__(self, page, url, path):
        self.page = page
        base, query = url.split("?", 1)
        page.goto(f"{base.split('/lab')[0]}/lab/tree/{path}?reset&{query}")
        page.wait_for_selector(".jp-Notebook .jp-Cell", timeout=PATIENCE)
        self.idle()

    def idle(self):
        """Wait until the kernel has nothing to do."""
        self.page.wait_for_selector(
            ".jp-NotebookPanel:not(.lm-mod-hidden) .jp-Notebook-ExecutionIndicator[data-status='idle']",
            timeout=PATIENCE,
        )

    def cell(self, words):
        """The first code cell whose source has these words."""
        cells = self.page.locator(".jp-NotebookPanel:not(.lm-mod-hidden) .jp-CodeCell")
        return cells.filter(has=self.page.locator(".jp-InputArea", has_text=words)).first

    def write(self, cell, source):
        """Put `source` in the place of what the cell holds, as by paste."""
        cell.locator(".cm-content").click()
        self.page.keyboard.press("Control+a")
        self.page.keyboard.insert_text(source)

    def run(self, cell):
        """Run a cell; returns what it shows."""
        prompt = cell.locator(".jp-InputPrompt").first
        before = prompt.inner_text()
        for _ in range(10):  # a page that is still settling takes a key press and does nothing with it
            prompt.click()
            self.page.keyboard.press("Control+Enter")
            with contextlib.suppress(TimeoutError):
                self.changed(prompt, before, r"\[.*\]", 3_000)
                break
        self.changed(prompt, before, r"\[\d+\]", PATIENCE)
        self.idle()
        return "\n".join(cell.locator(".jp-OutputArea-output").all_inner_texts())

    def changed(self, prompt, before, pattern, patience):
        """Wait until the prompt shows something else than `before` that fits `pattern`."""
        self.page.wait_for_function(
            "([e, before, pattern]) => e.innerText !== before && new RegExp(pattern).test(e.innerText)",
            arg=[prompt.element_handle(), before, pattern],
            timeout=patience,
        )


@contextlib.contextmanager
def chromium():
    """A browser without JupyterLab, for pages that lie in files."""
    need_chromium()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


def assert_harmless_and_readable(browser, path, shots):
    """The page in the file `path`, on a phone and on a screen: nothing runs, nothing is fetched, nothing is cut off.

    Its own policy is switched off, so that what is asserted of the text in it does not rest on that alone.
    """
    for width in (360, 1200):
        context = browser.new_context(viewport={"width": width, "height": 900}, bypass_csp=True)
        page, asked = context.new_page(), []
        page.on("request", lambda request, asked=asked: asked.append(request.url))
        page.on("dialog", lambda dialog: pytest.fail(f"a script ran: {dialog.message}"))
        page.goto(path.as_uri())
        page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true")
        assert [url[:60] for url in asked if not url.startswith("data:image/png")] == [path.as_uri()[:60]]
        assert page.evaluate("document.scripts.length") == 0 and page.title() != "owned"
        assert page.locator("[onerror], [onload], [onclick], a[href^='javascript:'], iframe, svg, object").count() == 0
        assert page.locator("img:not([alt])").count() == 0 and page.locator("main h1").count() == 1
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        wide = "e => e.scrollWidth > e.clientWidth + 1 && e.clientWidth > 0"
        assert page.evaluate(f"[...document.querySelectorAll('pre, p, li, h1, h2, h3, td')].filter({wide}).length") == 0
        page.screenshot(path=shots / f"{path.stem}-{width}.png", full_page=True)
        context.close()
