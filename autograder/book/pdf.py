"""Prints a page of the book to PDF with Chromium, which draws its formulas. Opens files alone, no network."""

import os
import shutil

from playwright.sync_api import sync_playwright
from pypdf import PdfReader

from course.errors import Problem

NAMES = ("chromium", "chromium-browser", "google-chrome")
FOOTER = '<p style="width:100%;text-align:center;font:8px sans-serif"><span class="pageNumber"></span></p>'
# Puts the contents and the copyright on the first page, leaves out the list of slides, which is nothing on paper, and
# keeps what is short on one page.
PREPARE = """pages => {
  document.getElementById("slides")?.remove();
  for (const each of document.querySelectorAll("pre, table")) {
    const lines = each.rows ?? each.textContent.split("\\n");
    each.style.breakInside = lines.length <= 16 ? "avoid" : "auto";
  }
  const list = document.createElement("ul");
  list.className = "printed-contents";
  for (const section of document.querySelectorAll(".toctree-wrapper > section")) {
    const link = document.createElement("a");
    link.href = `#${section.id}`;
    const title = section.querySelector("h2").cloneNode(true);
    title.querySelectorAll(".headerlink").forEach(each => each.remove());
    for (const text of [title.textContent, pages[section.id] ?? "000"]) {
      link.appendChild(document.createElement("span")).textContent = text;
    }
    list.appendChild(document.createElement("li")).appendChild(link);
  }
  document.querySelector(".printed-contents")?.remove();
  document.querySelector(".toctree-wrapper").before(list, document.querySelector(".copyright"));
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
        numbers = {}
        for _ in range(2):  # the first time to learn the numbers of the pages
            tab.evaluate(PREPARE, numbers)
            tab.pdf(
                path=pdf, format="A4", margin=MARGIN, display_header_footer=True, header_template="<span></span>",
                footer_template=FOOTER, outline=True, tagged=True, print_background=True,
            )  # fmt: skip
            numbers = find_pages(pdf)
        browser.close()
    return pdf


def find_pages(pdf):
    """Return the number of the page of each element that a link of this PDF leads to, by the element's id."""
    with PdfReader(pdf) as reader:
        places = reader.named_destinations.items()
        return {name.removeprefix("/"): reader.get_destination_page_number(place) + 1 for name, place in places}
