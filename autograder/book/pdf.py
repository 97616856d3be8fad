"""Prints a page of the book to PDF with Chromium, which draws its formulas. Opens files alone, no network."""

import os
import shutil

from playwright.sync_api import sync_playwright

from course.errors import Problem

NAMES = ("chromium", "chromium-browser", "google-chrome")
FOOTER = '<p style="width:100%;text-align:center;font:8px sans-serif"><span class="pageNumber"></span></p>'
CONTENTS = """() => {
  const list = document.createElement("ul");
  for (const section of document.querySelectorAll(".toctree-wrapper > section")) {
    const link = document.createElement("a");
    link.href = `#${section.id}`;
    link.textContent = section.querySelector("h2").firstChild.textContent;
    list.appendChild(document.createElement("li")).appendChild(link);
  }
  document.querySelector(".toctree-wrapper").before(list);
}"""
MARGIN = {"top": "18mm", "bottom": "18mm", "left": "18mm", "right": "18mm"}


def find_chromium():
    """The path of Chromium or Chrome; raises Problem where there is none."""
    for name in NAMES:
        if path := shutil.which(name):
            return path
    raise Problem("the pages are ready, but printing them needs Chromium: install it (Debian and Ubuntu: chromium).")


def print_pdf(page, pdf):
    """Print the HTML file `page` to `pdf`, with contents, page numbers and an outline; returns `pdf`."""
    flags = ["--no-sandbox"] if os.geteuid() == 0 else []  # Chromium does not run its sandbox as root
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=flags)
        tab = browser.new_page()
        tab.goto(page.as_uri())
        tab.evaluate(CONTENTS)
        tab.pdf(
            path=pdf, format="A4", margin=MARGIN, display_header_footer=True, header_template="<span></span>",
            footer_template=FOOTER, outline=True, tagged=True, print_background=True,
        )  # fmt: skip
        browser.close()
    return pdf
