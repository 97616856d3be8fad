"""What a build of the book keeps of earlier ones."""

import nbformat
from jupyter_cache import get_cache
from jupyter_cache.base import CacheBundleIn

from autograder.book.build import prune_cache, remove_old_pages


def run(cache, page, code):
    """What the build does with a page that has one cell."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code)])
    try:
        cache.merge_match_into_notebook(notebook)
    except KeyError:
        cache.cache_notebook_bundle(CacheBundleIn(notebook, str(page)), check_validity=False, overwrite=True)


def test_outputs_of_an_earlier_text_of_an_earlier_course_and_of_a_page_that_is_gone_are_removed(tmp_path):
    pages = [tmp_path / f"{name}.md" for name in ("one", "two", "gone")]
    for page in pages[:2]:
        page.touch()
    present, earlier = tmp_path / "cache" / "present", tmp_path / "cache" / "earlier"
    run(get_cache(earlier), pages[0], "1")
    cache = get_cache(present)
    for page, code in [(pages[0], "1"), (pages[0], "2"), (pages[0], "1"), (pages[1], "3"), (pages[2], "4")]:
        run(cache, page, code)
    prune_cache(present)
    kept = {(record.uri, cache.get_cache_bundle(record.pk).nb.cells[0].source) for record in cache.list_cache_records()}
    assert kept == {(str(pages[0]), "1"), (str(pages[1]), "3")}
    assert not earlier.exists()
    assert len(list((present / "executed").iterdir())) == 2


def test_a_page_that_is_there_no_longer_is_removed_with_its_deck_and_its_source(tmp_path):
    kept = ["index.html", "chapters/a.html", "slides/a.html", "_static/reveal.html", "_sources/chapters/a.md.txt"]
    old = ["chapters/b.html", "slides/b.html", "guide/a.html", "_sources/guide/a.md.txt"]
    for name in kept + old:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    remove_old_pages(tmp_path, {"index", "chapters/a"})
    assert sorted(path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*.*")) == sorted(kept)
