"""The book as it is built: `make book` makes the same pages. They are built once and opened in a real browser."""

import ast
import itertools
import re
from concurrent.futures import ThreadPoolExecutor

import pytest
from pypdf import PdfReader

from autograder.book import build, inspection
from autograder.labs import source
from autograder.testing.axe import DIAGONAL, FAST, find_violations
from autograder.testing.browser import PATIENCE, start_chromium
from course.errors import Problem

pytestmark = [pytest.mark.long, pytest.mark.xdist_group("book")]
CHAPTERS = sorted((build.BOOK / "chapters").glob("*.md"))
CODE = re.compile(r"^(`{3,})\{code-cell\}[^\n]*\n(.*?)^\1$", re.MULTILINE | re.DOTALL)
TASK = re.compile(r"^# %% task[^\n]*\n(.*?)(?=^# %% |\Z)", re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def pages():
    """All pages. Warnings are errors, and so is a cell that fails."""
    return build.make_pages("instructors")


@pytest.fixture(scope="module")
def tab(pages):
    with start_chromium() as browser:
        tab = browser.new_page()
        tab.set_default_timeout(PATIENCE)
        yield tab


def test_every_link_and_anchor_exists_and_nothing_is_loaded_from_elsewhere(pages):
    assert inspection.find_broken_links(pages) == []
    assert inspection.find_foreign_resources(pages) == []


def test_every_picture_has_an_alternative_text_and_every_plot_its_words(pages):
    assert inspection.find_silent_pictures(pages) == []
    for path in inspection.list_pages(pages / "chapters"):
        text = path.read_text()
        plots = text.count('<figure class="course-plot"')
        assert plots >= 3, path.name
        assert text.count("The picture in words and numbers") == plots


def test_every_formula_became_mathml_and_is_drawn_in_the_books_font(pages, tab):
    for path in inspection.list_pages(pages):
        assert not re.search(r"<m(i|o|text)>\\", path.read_text()), f"{path.name}: a command was not understood"
    for folder in ("chapters", "slides"):
        tab.goto((pages / folder / "05-ring.html").as_uri())
        assert tab.evaluate("document.fonts.load('16px \"Book Math\"').then(fonts => fonts.length)") == 1


def test_a_slide_that_has_only_a_figure_is_part_of_the_deck_and_no_box_of_the_page(pages):
    for path in inspection.list_pages(pages / "chapters"):
        boxes = re.findall(r'<aside class="slide-box".*?</aside>', path.read_text(), re.DOTALL)
        lines = [re.sub(r'<p class="slide-title">.*?</p>|<[^>]*>', "", box, flags=re.DOTALL) for box in boxes]
        assert boxes and all(line.strip() for line in lines), path.name
        assert (pages / "slides" / path.name).read_text().count("<section>") >= len(boxes)


def test_axe_finds_nothing_in_any_page_or_deck_in_light_on_a_desktop_or_in_dark_on_a_phone(pages, tab):
    """Pages take turns, because neighbours are made alike; `course bench book` looks at all pages in all views."""
    views = itertools.cycle(DIAGONAL)
    found = [each for path in inspection.list_pages(pages) for each in find_violations(tab, path, [next(views)], FAST)]
    assert found == []


def test_every_deck_opens_with_its_slides_and_none_is_higher_than_the_screen(pages, tab):
    decks = inspection.list_pages(pages / "slides")
    assert [deck.stem for deck in decks] == [chapter.stem for chapter in CHAPTERS]
    errors = []
    tab.set_viewport_size({"width": 1280, "height": 720})
    tab.on("pageerror", lambda error: errors.append(str(error)))
    for deck in decks:
        tab.goto(deck.as_uri())
        tab.wait_for_function("window.Reveal && Reveal.isReady()")
        assert 10 <= tab.evaluate("Reveal.getTotalSlides()") <= 20, deck.name
        high = tab.evaluate(
            "[...document.querySelectorAll('.slides section')].filter((each, i) => {"
            " Reveal.slide(i); return each.scrollHeight > 720 }).map(each => each.innerText.split('\\n')[0])"
        )
        assert high == [], f"{deck.name}: these slides are too full: {high}"
    assert errors == []


def test_the_printed_book_begins_with_the_page_of_each_chapter(pages):
    with ThreadPoolExecutor(1) as thread:  # Playwright, which is open in `tab`, works once per thread
        pdf = thread.submit(build.make_pdf).result()
    with PdfReader(pdf) as reader:
        first, *others = [page.extract_text() for page in reader.pages]
    contents = dict(re.findall(r"^(.+) (\d+)$", first, re.MULTILINE))
    assert list(contents)[:17] == [f"{number}. {title(path)}" for number, path in enumerate(CHAPTERS, 1)]
    assert "Slides" not in contents and "Glossary" in contents
    for name, number in contents.items():
        assert "".join(others[int(number) - 2].split()).startswith("".join(name.split())), (name, number)


def title(path):
    return re.search(r"^# (.+)$", path.read_text(), re.MULTILINE)[1]


def test_students_pages_hold_no_guide_and_no_exam():
    pages = build.make_pages("students")
    names = {path.relative_to(pages).as_posix() for path in pages.rglob("*") if path.is_file()}
    assert "chapters/05-ring.html" in names and "slides/05-ring.html" in names
    assert not [name for name in names if re.match(r"(_sources/)?(guide|exam)/", name)]
    for path in inspection.list_pages(pages):
        assert "Model answer" not in path.read_text(), path.name


def test_every_python_block_of_a_chapter_is_a_cell_that_runs():
    for path in CHAPTERS:
        shown = re.findall(r"^`{3,} ?\{?([a-z-]*py[a-z0-9]*|code-block|code)[ }\n]", path.read_text(), re.MULTILINE)
        assert shown == [], path.name


def test_no_chapter_defines_a_function_of_a_task():
    for path in CHAPTERS:
        lab = (source.SOLUTIONS / path.stem / "lab.py").read_text()
        tasks = {name for task in TASK.findall(lab) for name in defined(task)}
        assert tasks, path.name
        code = "\n".join(text for _, text in CODE.findall(re.sub(r"^:.*\n", "", path.read_text(), flags=re.MULTILINE)))
        assert tasks & defined(code) == set(), f"{path.name} defines these functions of tasks"


def defined(code):
    """The names of the functions and classes that a text of Python defines at its top level."""
    code = re.sub(r"^[%!].*$", "", code, flags=re.MULTILINE)
    return {node.name for node in ast.parse(code).body if isinstance(node, ast.FunctionDef | ast.ClassDef)}


def test_a_cell_that_fails_stops_the_build_with_its_file_and_line(tmp_path, monkeypatch):
    front = "---\nfile_format: mystnb\nkernelspec:\n  name: python3\n---\n\n# A chapter\n\n"
    (tmp_path / "chapters").mkdir()
    (tmp_path / "conf.py").write_text((build.BOOK / "conf.py").read_text())
    for name in ("_static", "_templates"):
        (tmp_path / name).symlink_to(build.BOOK / name)
    (tmp_path / "index.md").write_text("# Book\n\n:::{pages} chapters Chapters\n:::\n")
    (tmp_path / "chapters" / "01.md").write_text(front + "```{code-cell} ipython3\na = 1\n\na / 0\n```\n")
    monkeypatch.setattr(build, "BOOK", tmp_path)
    monkeypatch.setattr(build, "OUT", tmp_path / "_build")
    with pytest.raises(Problem) as caught:
        build.make_pages("students")
    assert str(caught.value) == "book/chapters/01.md, line 12: the cell failed with ZeroDivisionError: division by zero"
