"""Pictures of the board: axes, charts with their descriptions, colours with enough contrast."""

import html
import re

import pytest

from autograder.competition.leaderboard.web import pictures, templating
from autograder.testing.board import BoardWithGroups, make_patchy_entry
from autograder.testing.board_pages import NASTY
from course.competition import scene

STATIC = templating.HERE / "static"


def test_progress_is_described_in_words(tmp_path):
    board = BoardWithGroups(tmp_path, [NASTY[:40], "Other"])
    for group, key, wrong in ((1, "a", 0.5), (2, "b", 0.4), (1, "c", 0.2)):
        board.store.entries.accept(group, key, make_patchy_entry(1, (wrong, wrong)))
        board.score()
        board.verify("verified")
    lines = board.store.visible.read_wall().progress["disjoint"]
    chart = pictures.draw_progress(lines, "disjoint", NASTY[:40], lambda time: "that day")
    first, last = (value for _, value in lines[NASTY[:40]])
    assert f"rose from {100 * first:.1f}% to {100 * last:.1f}% in 1 step." in chart.text and "2 groups" in chart.text
    assert chart.text in html.unescape(chart.svg) and "<img" not in chart.svg
    assert "No entry" in pictures.draw_progress({}, "random", None, str).text


@pytest.mark.parametrize("values", [[], [0.5], [0.999, 1.0], [0.0, 1.0], [0.004, 0.016], [0.61, 0.87]])
def test_an_axis_contains_every_value_and_has_few_ticks(values):
    axis = pictures.Axis(values)
    assert all(0 <= axis.place(value) <= 100 for value in values) and 0 <= axis.low < axis.high <= 100
    assert 2 <= len(axis.ticks) <= 12 and all(0 <= axis.place(tick / 100) <= 100 for tick in axis.ticks)


def luminance(colour):
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    """The contrast of two colours as WCAG 2.1 defines it, 1 to 21."""
    high, low = sorted([luminance(one), luminance(other)], reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_colours_have_the_contrast_that_people_need(scheme):
    """WCAG 2.1 AA: 4.5 for text, 3 for shapes that mean something."""
    blocks = re.findall(r":root \{(.*?)\}", (STATIC / "style.css").read_text(), re.S)
    colours = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", blocks[0 if scheme == "light" else 1]))
    assert len(blocks) == 2 and len(colours) == 14
    text = [(ink, ground) for ink in ("ink", "soft") for ground in ("page", "card", "chosen")]
    text += [("good", "page"), ("bad", "page"), ("bad", "card"), ("on-colour", "random"), ("on-colour", "disjoint")]
    text += [(split, "card") for split in scene.SPLITS]
    shapes = [(mark, ground) for mark in ("edge", "random", "disjoint", "others") for ground in ("page", "card")]
    shapes += [(split, "chosen") for split in scene.SPLITS]
    low = {pair: round(contrast(colours[pair[0]], colours[pair[1]]), 2) for pair in text}
    assert not {pair: ratio for pair, ratio in low.items() if ratio < 4.5}
    low = {pair: round(contrast(colours[pair[0]], colours[pair[1]]), 2) for pair in shapes}
    assert not {pair: ratio for pair, ratio in low.items() if ratio < 3}


def test_the_classes_have_the_colours_of_the_lab_all_different():
    colours = pictures.get_colours()
    assert len(set(colours)) == len(scene.CLASSES) and colours[:2] == ("#ffffff", "#1f77b4")
