"""Formulas as MathML, and the font in which they are drawn."""

import hashlib

from autograder.book.build import BOOK
from autograder.book.mathematics import convert


def test_an_asterisk_in_an_exponent_is_the_centred_one_which_fonts_do_not_raise():
    assert "&#x02217;" in convert(r"\theta^*") and "&#x0002A;" not in convert(r"\theta^*")
    assert 'display="block"' in convert("x", "block")


def test_a_minus_that_is_a_sign_is_told_from_one_that_subtracts():
    assert convert("a = -3").count('form="prefix"') == 1
    assert convert("(-a) - b").count('form="prefix"') == 1
    assert 'form="prefix"' not in convert("(a) - b - c")


def test_the_font_of_formulas_is_the_one_its_licence_names():
    static = BOOK / "_static"
    wanted, name = (static / "texgyrepagella-math.sha256").read_text().split()
    assert hashlib.sha256((static / name).read_bytes()).hexdigest() == wanted
    assert "GUST Font License" in (static / "texgyrepagella-math.LICENSE.txt").read_text()
