"""Phases, two final choices, notes, baselines, and changes of rank; in both databases."""

from datetime import timedelta

import pytest

from autograder.competition.leaderboard import audit, formats, grades, phases, rules
from autograder.competition.leaderboard.rules import RequestRefused
from autograder.testing.board import CODE, compute_scores, make_patchy_entry, pass_deadline, read_ranks
from course.competition import scene

TWO = "Warm-up, 2026-12-01T09:00, 2026-12-08T18:00, 20\n\nFinal, 2026-12-10T09:00, 2026-12-18T23:59, 3\n"


def verify(store, *states):
    """Do the verifier's part for the next entries: their own maps, with these states."""
    for state in states:
        number, part = store.work.take_next_to_verify()
        again = {split: store.entries.read_file(number, split) for split in scene.SPLITS}
        store.work.put_verdict(number, part, state, "because", maps=again)
    compute_scores(store)


# -- phases


def test_phases_are_read_from_text_and_written_as_it():
    first, second = phases.parse_phases(TWO, "Europe/Berlin", 1000)
    assert (first.name, first.start.hour, first.per_day, second.end.hour) == ("Warm-up", 8, 20, 22)
    text = phases.format_phases((first, second), "Europe/Berlin")
    assert (
        phases.parse_phases(text, "Europe/Berlin", 1000)
        == (first, second)
        == phases.from_json(phases.to_json((first, second)))
    )
    assert phases.parse_phases(" \n", "UTC", 1000) == ()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Warm-up", "cannot be read: write NAME, FROM, TO"), ("A, tomorrow, 2026-12-08T18:00, 20", "cannot be read"),
        ("A, 2026-12-01, 2026-12-02, many", "cannot be read"), ("A, 2026-12-02, 2026-12-01, 2", "ends before it"),
        (", 2026-12-01, 2026-12-02, 2", "1 to 40"), ("A, 2026-12-01, 2026-12-02, 0", "from 1 to 1000"),
        ("A, 2026-12-01, 2026-12-03, 2\nB, 2026-12-02, 2026-12-04, 2", "B begins before A ends"),
        ("A, 2026-12-01, 2026-12-03, 2\n" * 21, "20 are allowed"), ("A\x00, 2026-12-01, 2026-12-03, 2", "printable"),
        ("A, 2026-12-01, 2026-12-03, \ud800", "cannot be read"),
    ],
)  # fmt: skip
def test_phases_that_cannot_be_used_are_refused_in_one_sentence(text, words):
    with pytest.raises(RequestRefused, match=words) as refused:
        phases.parse_phases(text, "UTC", 1000)
    assert "\n" not in str(refused.value)


def test_each_phase_has_its_limit_and_between_two_nobody_hands_in(store, group):
    now = rules.now()
    times = [f"{now + timedelta(hours=each):%Y-%m-%dT%H:%M}" for each in (-2, 1, 2, 3)]
    text = "Warm-up, {}, {}, 2\nFinal, {}, {}, 1".format(*times)
    store.settings.change({"phases": text, "deadline": (now + timedelta(hours=4)).isoformat()}, is_confirmed=True)
    assert phases.format_phases(store.settings.read().phases, "UTC") == text
    assert store.visible.read_history(group).left_today == 2
    for key in "ab":
        store.entries.accept(group, key, make_patchy_entry(1))
    for moment, status, words in (
        (now, 429, "2 are allowed"),
        (now + timedelta(hours=1.5), 403, r"no phase is open: hand in from .* \(UTC\), when Final begins"),
        (now + timedelta(hours=3.5), 403, "the last phase is over"),
    ):
        with pytest.raises(RequestRefused, match=words) as refused:
            store.entries.accept(group, "c", make_patchy_entry(1), moment)
        assert refused.value.status == status
    store.settings.change({"phases": ""})
    assert store.settings.read().phases == () and store.visible.read_history(group).left_today == 3


# -- two final choices


def choose_two(store, group, first, second):
    for key, wrong in (("a", first), ("b", second), ("c", (0.2, 0.5))):
        store.entries.accept(group, key, make_patchy_entry(1, wrong))
    store.entries.choose(group, 2)
    store.entries.choose(group, 1)


def counts(store, group):
    return [past.id for past in store.visible.read_history(group).entries if past.counts]


def test_of_two_choices_the_better_one_on_the_private_part_counts(store, group):
    store.settings.change({"choices": 2})
    choose_two(store, group, (0.1, 0.4), (0.02, 0.3))
    compute_scores(store)
    history = store.visible.read_history(group).entries
    assert counts(store, group) == [1] and [past.id for past in history if past.is_second] == [2]
    assert {past.id for past in history if past.is_chosen} == {1, 2}
    verify(store, "verified")
    assert store.work.take_next_to_verify() is None  # until the deadline only one is verified
    pass_deadline(store)
    compute_scores(store)
    assert not store.visible.read_standing().is_final
    verify(store, "verified", "verified")
    standing = store.visible.read_standing()
    assert standing.is_final and {rows[0].entry for rows in standing.rows.values()} == {2} == set(counts(store, group))
    assert len(standing.rows["random"]) == 1 and audit.find_faults(store.log) == []


def test_of_two_choices_a_refused_one_leaves_the_other(store, group):
    store.settings.change({"choices": 2})
    choose_two(store, group, (0.1, 0.4), (0.02, 0.3))
    pass_deadline(store)
    compute_scores(store)
    state_of = {1: "verified", 2: "refused"}
    for _ in range(2):
        number, part = store.work.take_next_to_verify()
        again = {split: store.entries.read_file(number, split) for split in scene.SPLITS}
        store.work.put_verdict(number, part, state_of[number], "because", maps=again)
    compute_scores(store)
    assert counts(store, group) == [1] and read_ranks(store) == {"One": 1}


def test_by_default_a_group_has_one_choice(store, group):
    choose_two(store, group, (0.1, 0.4), (0.02, 0.3))
    pass_deadline(store)
    compute_scores(store)
    verify(store, "verified")
    assert store.work.take_next_to_verify() is None and counts(store, group) == [1]
    assert [past.is_second for past in store.visible.read_history(group).entries] == [False] * 3


# -- notes


def test_a_note_is_written_with_an_entry_and_changed_later_by_its_group_alone(store, group):
    store.entries.accept(group, "a", make_patchy_entry(1), note="  a blur  of reach 5 ")
    other = store.groups.join("Two", CODE)[0].id
    assert store.visible.read_history(group).entries[0].note == "a blur of reach 5"
    with pytest.raises(RequestRefused, match="no entry 1"):
        store.entries.annotate(other, 1, "mine")
    for wrong in ("x" * 201, "a\x00"):
        with pytest.raises(RequestRefused, match="the note"):
            store.entries.annotate(group, 1, wrong)
        with pytest.raises(RequestRefused, match="the note"):
            store.entries.accept(group, "b", make_patchy_entry(2), note=wrong)
    store.entries.annotate(group, 1, "")
    assert store.visible.read_history(group).entries[0].note == "" and audit.find_faults(store.log) == []


# -- baselines and changes of rank


def enter(store, *shares):
    """One group per (name, shares of wrong pixels), each with an entry; all are scored."""
    for name, wrong in shares:
        number = store.groups.join(name, CODE)[0].id
        store.entries.accept(number, "k", make_patchy_entry(1, wrong))
    compute_scores(store)


def test_a_baseline_is_displayed_where_its_accuracy_belongs_and_has_no_rank(store):
    enter(store, ("Good", (0.02, 0.2)), ("SVM", (0.2, 0.4)), ("Bad", (0.4, 0.6)))
    store.groups.set_baseline(2, True)
    verify(store, "verified", "verified", "verified")
    rows = store.visible.read_standing().rows["random"]
    assert [(row.group, row.rank, row.is_baseline) for row in rows] == [
        ("Good", 1, False), ("SVM", None, True), ("Bad", 2, False),
    ]  # fmt: skip
    standing = store.visible.read_standing()
    assert grades.find_groups(standing) == {"Good", "Bad"}
    assert "SVM,True" in formats.standing_as_csv(standing)
    store.groups.set_baseline(2, False)
    compute_scores(store)
    assert [row.rank for row in store.visible.read_standing().rows["random"]] == [1, 2, 3]
    assert audit.find_faults(store.log) == []


def test_the_final_standing_says_how_ranks_changed_from_the_public_part(store):
    enter(store, ("Good", (0.02, 0.2)), ("Bad", (0.4, 0.6)), ("Refused", (0.01, 0.1)))
    verify(store, "verified", "verified")
    assert {row.public_rank for row in store.visible.read_standing().rows["random"]} == {None}
    pass_deadline(store)
    compute_scores(store)
    for _ in range(3):
        number, part = store.work.take_next_to_verify()
        again = {split: store.entries.read_file(number, split) for split in scene.SPLITS}
        store.work.put_verdict(number, part, "refused" if number == 3 else "verified", "because", maps=again)
    compute_scores(store)
    standing = store.visible.read_standing()
    assert standing.is_final
    # Both parts rank the entries that are left in the end: the refused one takes no public rank either.
    assert [(row.group, row.rank, row.public_rank) for row in standing.rows["random"]] == [
        ("Good", 1, 1), ("Bad", 2, 2), ("Refused", None, None),
    ]  # fmt: skip
    assert formats.standing_as_json(standing)["rows"]["disjoint"][0]["public_rank"] == 1
