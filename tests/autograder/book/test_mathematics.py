"""Formulas as MathML, and the font in which they are drawn."""

import hashlib

from docutils import nodes
from docutils.utils import new_document

from autograder.book.build import BOOK
from autograder.book.mathematics import convert, keep_punctuation


def test_an_asterisk_in_an_exponent_is_the_centred_one_which_fonts_do_not_raise():
    assert "&#x02217;" in convert(r"\theta^*") and "&#x0002A;" not in convert(r"\theta^*")
    assert 'display="block"' in convert("x", "block")


def test_a_minus_that_is_a_sign_is_told_from_one_that_subtracts():
    assert convert("a = -3").count('form="prefix"') == 1
    assert convert("(-a) - b").count('form="prefix"') == 1
    assert 'form="prefix"' not in convert("(a) - b - c")


def test_signs_and_names_stand_as_far_from_their_neighbours_as_in_print():
    assert "<mo>&#x000B1;</mo>" in convert(r"p \pm 2") and "<mo>&#x02254;</mo>" in convert("f := u")
    assert convert(r"\ln 2 + \ln K").count("<mspace") == 2 and convert(r"\log_2 4").count("<mspace") == 1
    assert "<mspace" not in convert(r"\log_2") + convert(r"\exp(x)")
    assert convert("|z|").count('lspace="0" rspace="0"') == 2


def test_no_line_begins_with_the_punctuation_after_a_formula():
    document = new_document("page")
    document += nodes.paragraph("", "", nodes.math("", "x"), nodes.Text(". A"), nodes.math("", "y"), nodes.Text(" B"))
    keep_punctuation(None, document, "page")
    assert document.astext() == "x\u2060. Ay B"


def test_the_font_of_formulas_is_the_one_its_licence_names():
    static = BOOK / "_static"
    wanted, name = (static / "texgyrepagella-math.sha256").read_text().split()
    assert hashlib.sha256((static / name).read_bytes()).hexdigest() == wanted
    assert "GUST Font License" in (static / "texgyrepagella-math.LICENSE.txt").read_text()
