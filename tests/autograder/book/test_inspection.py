"""What the inspection of built pages finds, on pages that were written by hand."""

from autograder.book import inspection


def write(folder, **pages):
    for name, text in pages.items():
        (folder / f"{name}.html").write_text(text)


def test_a_link_to_a_file_or_an_anchor_that_is_missing_is_broken(tmp_path):
    good = '<p id="here"></p><a href="two.html#there"></a><a href="#here"></a><a href="https://example.org/x"></a>'
    write(tmp_path, one=good, two='<h2 id="there"></h2>')
    assert inspection.find_broken_links(tmp_path) == []
    write(tmp_path, two='<a href="one.html#gone"></a><img src="gone.png" alt="a"><a href="gone.html"></a>')
    assert inspection.find_broken_links(tmp_path) == [
        "one.html: two.html#there leads to no anchor.",
        "two.html: one.html#gone leads to no anchor.",
        "two.html: gone.html leads to no file.",
        "two.html: gone.png leads to no file.",
    ]


def test_scripts_styles_and_fonts_from_elsewhere_are_found_and_links_are_not(tmp_path):
    write(tmp_path, one='<a href="https://example.org"></a><script src="//example.org/a.js"></script>')
    (tmp_path / "a.css").write_text(
        '@import "https://example.org/b.css"; p { background: url(data:image/png;base64,AA) }'
    )
    assert inspection.find_foreign_resources(tmp_path) == [
        "one.html loads //example.org/a.js.",
        "a.css loads https://example.org/b.css.",
    ]


def test_a_picture_needs_an_alternative_text(tmp_path):
    write(tmp_path, one='<img src="a.png" alt="A curve"><img src="b.png" alt=" "><img src="c.png">')
    assert inspection.find_silent_pictures(tmp_path) == ["one.html: b.png", "one.html: c.png"]
