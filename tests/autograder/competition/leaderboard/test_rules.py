"""The rules: names, limits, the deadline, and which entry counts."""

import json
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.competition.leaderboard import lines, rules
from autograder.competition.leaderboard.rules import RequestRefused
from autograder.testing.board import NOTEBOOK, make_files, make_settings

NOON = datetime(2026, 12, 1, 12, tzinfo=UTC)


@given(st.text(max_size=60))
def test_a_name_is_refused_or_fits_on_one_line(text):
    try:
        name = lines.check_name(text)
    except RequestRefused:
        return
    assert 1 <= len(name) <= lines.MAX_NAME and name.isprintable() and name == name.strip() == lines.check_name(name)


@pytest.mark.parametrize(
    "text", ["", "  ", "a\x00b", "a\nb", "\u202eabc", "a\u200bb", "a\u2028b", "x" * 41, "\ud800", "\U000e0041"]
)
def test_invisible_names_and_long_names_are_refused(text):
    with pytest.raises(RequestRefused, match="name"):
        lines.check_name(text)


def test_names_that_look_the_same_count_as_the_same():
    assert lines.fold_name(lines.check_name("ＡＤＡ  Straße")) == lines.fold_name(lines.check_name("ada strasse"))
    assert lines.fold_name("a") != lines.fold_name("b")


def test_html_in_a_name_is_text_like_any_other():
    assert lines.check_name("<b>Ada</b>") == "<b>Ada</b>"


@given(st.datetimes(datetime(2001, 1, 1), datetime(2099, 1, 1), timezones=st.just(UTC)))
def test_times_as_text_keep_their_order_and_can_be_parsed(at):
    assert rules.parse_time(rules.format_time(at)) == at
    assert rules.format_time(at) < rules.format_time(at + timedelta(microseconds=1))


def test_a_deadline_without_an_offset_is_in_the_boards_time_zone():
    assert rules.check_deadline("2026-12-18T23:59:00", "Europe/Berlin") == datetime(2026, 12, 18, 22, 59, tzinfo=UTC)
    with_offset = rules.check_deadline("2026-12-18T23:59:00-05:00", "Europe/Berlin")
    assert with_offset == datetime(2026, 12, 19, 4, 59, tzinfo=UTC)
    for wrong in ("tomorrow", "", "1026-12-18T23:59", "9999-12-31T23:59:59-12:00", 5, None):
        with pytest.raises(RequestRefused, match="deadline"):
            rules.check_deadline(wrong, "UTC")


@pytest.mark.parametrize(
    "changes",
    [
        {"per_day": 0}, {"per_day": True}, {"per_day": 2.5}, {"per_day": "3"}, {"per_day": 10**9}, {"code": "a b c d"},
        {"code": "abc"}, {"code": 4821}, {"name": ""}, {"name": 3}, {"time_zone": "Mars/Olympus"}, {"time_zone": ""},
        {"time_zone": "../../etc/passwd"}, {"time_zone": "\x00"}, {"frozen": True}, {"colour": "red"}, {3: 4},
    ],
)  # fmt: skip
def test_invalid_settings_are_refused(changes):
    with pytest.raises(RequestRefused):
        rules.check_settings(make_settings(), changes)


def test_a_board_needs_all_of_its_settings():
    with pytest.raises(RequestRefused, match="code is not set"):
        rules.check_settings(None, {"name": "x", "deadline": "2026-12-18T23:59", "per_day": 1, "time_zone": "UTC"})


def test_a_day_ends_at_local_midnight_also_when_the_clock_is_set_back():
    start, end = rules.find_day(make_settings(time_zone="Europe/Berlin"), datetime(2026, 10, 25, 12, tzinfo=UTC))
    assert end - start == timedelta(hours=25) and start == datetime(2026, 10, 24, 22, tzinfo=UTC)


def test_the_private_part_is_visible_from_the_deadline_on():
    board = make_settings(deadline=NOON)
    assert rules.find_part(board, NOON - timedelta(microseconds=1)) == "public"
    assert rules.find_part(board, NOON) == "private"
    rules.require_open(board, NOON - timedelta(microseconds=1), 4)
    for at, today, status in ((NOON, 0, 403), (NOON - timedelta(seconds=1), 5, 429)):
        with pytest.raises(RequestRefused) as refused:
            rules.require_open(board, at, today)
        assert refused.value.status == status


@given(st.lists(st.sampled_from([None, "why"])), st.none() | st.integers(1, 9))
def test_the_chosen_entry_counts_otherwise_the_last_one_that_is_not_withdrawn(withdrawn, chosen):
    entries = [SimpleNamespace(id=n, withdrawn=each) for n, each in enumerate(withdrawn, 1)]
    left = [entry.id for entry in entries if entry.withdrawn is None]
    expected = [chosen] if chosen in left else left[-1:]
    assert rules.find_counting_entries(entries, [chosen, None]) == expected


def test_evidence_is_two_numbers_or_none():
    assert rules.parse_evidence("4", b"12") == {"ranks": 4, "seconds": 12.0} and rules.parse_evidence("", b"") is None
    for ranks, seconds in (
        ("4", ""),
        ("", "1"),
        ("4.5", "1"),
        ("4", "-0"),
        ("100001", "1"),
        ("4", "1e8"),
        (b"\xff", "1"),
    ):
        with pytest.raises(RequestRefused, match="must be two numbers"):
            rules.parse_evidence(ranks, seconds)


def test_a_notebook_must_have_format_4_and_code():
    empty = json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": []})
    for wrong in (
        "", "null", "[]", "{}", "\ud800", empty, NOTEBOOK[:-9], NOTEBOOK.replace('"nbformat": 4', '"nbformat": 3'),
        '{"nbformat": 4, "cells": {"a": 1}}', '{"nbformat": 4, "cells": [{"cell_type": "code", "source": 5}]}',
        '{"nbformat": 4, "cells": [' * 9000,
    ):  # fmt: skip
        with pytest.raises(RequestRefused, match="the notebook is not a Jupyter notebook, or has no code"):
            rules.check_entry(**make_files(notebook=wrong.encode("utf-8", "surrogatepass")))
    assert rules.check_entry(**make_files(notebook=b"\xef\xbb\xbf" + NOTEBOOK.encode()))


def test_different_contents_have_different_digests():
    first = make_files()
    others = [first | {"notebook": NOTEBOOK.encode() + b" "}, first | {"random": first["disjoint"]}, make_files(),
              first | {"evidence": {"ranks": 1, "seconds": 1.0}}]  # fmt: skip
    assert rules.check_entry(**first).digest == rules.check_entry(**first).digest
    assert len({rules.check_entry(**each).digest for each in [first, *others]}) == 5
