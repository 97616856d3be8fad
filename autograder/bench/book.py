"""The book: how many pages it has, which links are broken, what axe finds in them, and how many cells ran.

Builds the pages for instructors, which are all pages, into book/_build, and opens each in Chromium.
"""

from autograder.book import build, inspection
from autograder.testing.axe import find_violations
from autograder.testing.browser import PATIENCE, start_chromium


def rows():
    """One row for the whole book. Raises Problem where it cannot be built."""
    folder = build.make_pages("instructors")
    pages = inspection.list_pages(folder)
    broken = inspection.find_broken_links(folder) + inspection.find_foreign_resources(folder)
    with start_chromium() as browser:
        tab = browser.new_page()
        tab.set_default_timeout(PATIENCE)
        violations = [each for page in pages for each in find_violations(tab, page)]
    yield {
        "pages": len(pages),
        "links_broken": len(broken),
        "axe_violations": len(violations),
        "blocks_run": inspection.count_cells(),
        "pictures_without_text": len(inspection.find_silent_pictures(folder)),
        "why": broken + violations,
    }


def summary(rows):
    """Whether nothing was found."""
    (row,) = rows
    return {"met": row["links_broken"] == row["axe_violations"] == row["pictures_without_text"] == 0}
