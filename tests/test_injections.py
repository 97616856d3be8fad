"""What a hostile hand-in tries in an instructor's or a student's browser: nothing of it may happen.

The hand-ins go through the real `course grade`; their pages are opened in a real browser by `course formgrader` and as
feedback, with the pages' policies and without them: what a hand-in shows is inert, and the policy is a second wall.
"""

import http.server
import threading
import tomllib
from pathlib import Path

import nbformat
import pytest
from nbconvert.filters.markdown_mistune import markdown2html_mistune
from nbformat.v4 import new_code_cell, new_markdown_cell, new_raw_cell
from playwright.sync_api import expect

import autograder.testing
from autograder.gradebook.classroom import Classroom
from autograder.labs import source
from autograder.testing import browser
from autograder.testing.mini_lab import LAB, MINI, MiniLab, put, run

CORPUS = tomllib.loads((Path(autograder.testing.__file__).parent / "injections.toml").read_text(encoding="utf-8"))
STUDENTS = 8  # who share the corpus
EVIL = '<img src="TRAP/owned" onerror=alert("owned")>'
ACTORS = [
    "script", "style", "iframe", "object", "embed", "svg", "form", "input", "button", "select", "textarea", "video",
    "audio", "link", "meta", "base", "template", "maction", "annotation-xml", "[style]",
]  # fmt: skip
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
SVG = '<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"><image href="TRAP/owned"/></svg>'
METADATA = {  # of a notebook
    "title": f"</title>{EVIL}", "authors": [{"name": EVIL}], "celltoolbar": EVIL,
    "kernelspec": {"name": "python3", "display_name": EVIL, "language": EVIL},
    "language_info": {"name": "python", "pygments_lexer": EVIL, "mimetype": EVIL},
    "course": {"remarks": [EVIL, {"a": EVIL}]},
    "widgets": {"application/vnd.jupyter.widget-state+json": {
        "version_major": 2, "version_minor": 0, "state": {"</script>" + EVIL: {"model_name": "HTMLModel"}},
    }},
}  # fmt: skip
OF_A_CELL = {
    "tags": [f'x">{EVIL}'], "name": EVIL, "magics_language": EVIL, "raw_mimetype": "text/html",
    "course": {"text": EVIL}, "slideshow": {"slide_type": EVIL}, "nbgrader": {"grade_id": f'x">{EVIL}', "points": EVIL},
}  # fmt: skip


@pytest.fixture(scope="module")
def trap():
    """A web server on another port; yields its address and the list of what it was asked for."""
    asked = []

    class Trap(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            self.send_response(200)
            self.end_headers()

        do_POST = do_HEAD = do_OPTIONS = do_PUT = do_GET

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Trap)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}", asked
    server.shutdown()


@pytest.fixture(scope="module")
def class_(tmp_path_factory, trap):
    """A class in which the corpus was graded by `course grade`."""
    browser.need_chromium()
    root, address = tmp_path_factory.mktemp("injections"), trap[0]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(source, "SOLUTIONS", MINI)
        folders = [f"{number} {name}".replace("/", "") for number, name in enumerate(CORPUS["names"].values())]
        for number, folder in enumerate([*folders, "last"][:STUDENTS]):
            content = nbformat.writes(make_hand_in(number)).replace("TRAP", address)
            put(root / "hand-ins", folder, content.encode())
        put(root / "hand-ins", folders[0], b"", name=f"{EVIL.replace('/', '')}.html")
        failed, rows, _ = run(root / "hand-ins", root / "class")
    assert failed == 0 and len(rows) == STUDENTS
    classroom = Classroom(root / "class")
    with classroom.gradebook() as book:
        for student, name in zip(rows, CORPUS["names"].values(), strict=False):
            name = name.replace("TRAP", address)
            book.update_or_create_student(student, first_name=name, last_name=name, email=name)
            for comment in book.find_submission_notebook(LAB, LAB, student).comments:
                comment.manual_comment = comment.auto_comment = f"{name}\n\n{EVIL}"
        book.db.commit()
    for student in rows:
        classroom.generate_feedback(student, LAB)
    return classroom


def make_hand_in(number):
    """The hand-in that contains every `STUDENTS`-th injection: in a cell by itself, and all of them in the answer."""
    answers = list(CORPUS["answers"].values())[number::STUDENTS]
    unclosed = list(CORPUS["unclosed"].values())[number::STUDENTS]
    notebook = MiniLab().hand_in(why="\n\n".join([*answers, unclosed[0]]), add=f"add = int.__add__  # {EVIL}")
    outputs = list(CORPUS["outputs"].items())[number::STUDENTS]
    details = f"{{'isolated': True, 'alt': {EVIL!r}, 'width': {EVIL!r}}}"
    shows = [f"display({{{mime!r}: {text!r}}}, raw=True, metadata={{{mime!r}: {details}}})" for mime, text in outputs]
    shows += [f"print({EVIL!r})", f"import sys; print({EVIL!r}, file=sys.stderr)"]
    shows += [f"raise type({EVIL!r}, (Exception,), {{}})({EVIL!r})", f"%%html\n{EVIL}", f"%%javascript\n{EVIL}"]
    notebook.cells += [new_markdown_cell(text) for text in answers + unclosed]
    notebook.cells += [new_code_cell(text) for text in shows]
    notebook.cells += [new_raw_cell(text) for text in (answers[0], EVIL)]
    for index, cell in enumerate(notebook.cells):
        if cell.cell_type == "markdown":
            cell.attachments = {
                "owned.svg": {"image/svg+xml": SVG, "text/html": EVIL},
                "owned.png": {"image/png": f'{PNG}" onerror="alert(1)', f'image/png"{EVIL}': PNG},
            }
        if not source.nbgrader(cell):
            cell.metadata.update(OF_A_CELL)
            cell.id = f"c{index}"
    notebook.metadata.update(nbformat.from_dict(METADATA))
    return notebook


class Watch:
    """A browser window and everything that happened in it that must not."""

    def __init__(self, chromium, base, **options):
        self.context, self.happened = chromium.new_context(base_url=base, **options), []
        self.base, self.opened = base, None
        self.page = self.context.new_page()
        self.page.set_default_timeout(browser.PATIENCE)
        self.context.on("page", lambda page: self.note(f"a window opened: {page.url}"))
        self.context.on("request", lambda request: self.check_request(request.url))
        self.page.on("dialog", lambda dialog: (self.note(f"a dialog opened: {dialog.message}"), dialog.dismiss()))
        self.page.on("download", lambda download: self.note(f"a file was downloaded: {download.url}"))
        self.page.on("console", lambda message: self.check_console(message.text))

    def note(self, what):
        self.happened.append((self.page.url, what))

    def check_request(self, url):
        is_own = url.startswith((f"{self.base}/formgrader/", "file:")) or url in (
            self.opened,
            f"{self.base}/favicon.ico",
        )
        is_expected = url == self.opened or "/formgrader/api/" in url or "owned" not in url
        if not url.startswith("data:image/") and not (is_own and is_expected):
            self.note(f"it asked for {url}")

    def check_console(self, text):
        if "Content Security Policy" in text or "owned" in text:
            self.note(f"the browser's console says: {text}")

    def open(self, address):
        """Open a page, and wait until whatever was going to happen has happened."""
        self.opened = address if "://" in address else self.base + address
        self.page.goto(address)
        self.page.wait_for_load_state("networkidle")
        self.page.mouse.move(400, 300)
        assert self.page.url.split("?")[0].rstrip("/") == self.opened.rstrip("/"), "the page left its address"
        assert self.page.title() != "owned"


@pytest.mark.long
@pytest.mark.parametrize("with_policy", [True, False], ids=["with the policy", "without it"])
def test_nothing_that_a_hand_in_tries_happens_in_formgrader(class_, trap, with_policy):
    with browser.formgrader(class_.root) as address, browser.start_chromium() as chromium:
        files = list_files(class_.root.parent)
        watch = Watch(chromium, address.split("/formgrader")[0], bypass_csp=not with_policy)
        page, watch.opened = watch.page, address
        page.goto(address)
        watch.open(f"/formgrader/gradebook/{LAB}/{LAB}")
        expect(page.locator("tbody tr")).to_have_count(STUDENTS)
        page.locator("#toggle_names").click()
        links = page.locator("a.name-shown")
        assert links.filter(has_text="<script>").count() and links.filter(has_text="{{ 7 * 7 }}").count()
        submissions = [link.get_attribute("href") for link in links.all()]
        for submission in submissions:
            watch.open(submission)
            expect(page.locator("input.score")).to_have_count(3)
            page.locator(".glyphicon-eye-open").click()
            expect(page.locator(".name-shown").first).to_be_visible()
            assert_inert(
                page.locator("#notebook-container .rendered_html, #notebook-container .output"), "[href]", "[id]"
            )
        for path in ["manage_students", f"manage_submissions/{LAB}", "manage_assignments", "gradebook"]:
            watch.open(f"/formgrader/{path}")
            expect(page.locator("tbody tr").first).not_to_contain_text("Loading")
        for path in CORPUS["addresses"].values():
            watch.open(path)
        assert watch.happened == [] and trap[1] == []
    assert [path for path in list_files(class_.root.parent) - files if "gradebook.db" not in path.name] == []


@pytest.mark.long
@pytest.mark.parametrize("with_policy", [True, False], ids=["with the policy", "without it"])
def test_nothing_that_a_hand_in_tries_happens_on_its_feedback_page(class_, trap, with_policy):
    pages = sorted((class_.root / "feedback").rglob("*.html"))
    assert len(pages) == STUDENTS
    with browser.start_chromium() as chromium:
        watch = Watch(chromium, "file://", bypass_csp=not with_policy)
        for path in pages:
            watch.open(path.as_uri())
            assert_inert(watch.page.locator("body"), "[href]:not([href^='#'])")
            expect(watch.page.locator("main > table")).to_be_visible()
        assert watch.happened == [] and trap[1] == []


def assert_inert(places, *others):
    """No element in these places could act, whoever clicks on it. others: more selectors of what must not be there."""
    picture = "[src^='data:image/png'], [src^='data:image/gif']"
    for selector in [*ACTORS, f"[src]:not({picture})", *others]:
        found = places.locator(selector)
        assert found.count() == 0, found.first.evaluate("e => e.outerHTML")
    names = "es => es.flatMap(e => [...e.querySelectorAll('*')]).flatMap(e => e.getAttributeNames())"
    assert [name for name in places.evaluate_all(names) if name.startswith("on")] == []


@pytest.mark.long
def test_the_policy_alone_stops_a_script_that_got_into_a_page(class_):
    injections = [text for part in ("answers", "unclosed") for name, text in CORPUS[part].items() if "meta" not in name]
    with browser.formgrader(class_.root) as address, browser.start_chromium() as chromium:
        page, dialogs = chromium.new_page(), []
        page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
        page.goto(address)
        for injection in injections:
            page.evaluate("html => document.body.insertAdjacentHTML('beforeend', html)", injection)
        page.evaluate("""() => {
            const script = document.createElement("script");
            script.textContent = "document.title = 'owned'";
            document.body.append(script);
        }""")
        page.wait_for_load_state("networkidle")
        assert page.title() != "owned" and dialogs == []


@pytest.mark.long
def test_graded_notebooks_are_inert_wherever_they_are_opened(class_):
    paths = sorted((class_.root / "autograded").rglob("*.ipynb"))
    assert len(paths) == STUDENTS
    kinds = set()
    for path in paths:
        notebook = nbformat.read(path, as_version=4)
        assert notebook.metadata.keys() == {"kernelspec", "language_info", "course"}
        assert "owned" not in str({key: value for key, value in notebook.metadata.items() if key != "course"})
        for cell in notebook.cells:
            assert cell.cell_type in ("code", "markdown") and "attachments" not in cell
            assert cell.metadata.keys() <= {"nbgrader", "course", "tags"}
            if cell.cell_type == "markdown":
                # Markdown leaves it as it is, so that no other program makes anything else of it.
                assert markdown2html_mistune(cell.source).strip() == cell.source
                continue
            for output in cell.outputs:
                kinds.add(output.output_type)
                assert set(output.get("data", {})) <= {"text/plain", "image/png", "image/jpeg"}
    assert kinds == {"stream", "error", "display_data"}


def test_the_corpus_has_what_was_asked_for():
    assert sum(map(len, CORPUS.values())) >= 40


def list_files(folder):
    """All files in a folder."""
    return {path for path in folder.rglob("*") if path.is_file()}
