"""Groups: look-alike names, codes for one group each, members, renaming, merging and deleting; in both databases."""

import pytest

from autograder.competition.leaderboard import audit, lines
from autograder.competition.leaderboard.rules import RequestRefused
from autograder.testing.board import CODE, compute_scores, count_rows, make_entry, read_ranks


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Ada", "Αdа"), ("ADA", "АDА"), ("Ada", "аԁа"), ("Group 1", "Group l"), ("Ida", "lda"), ("modern", "rnodern"),
        ("Straße", "STRASSE"), ("Zero 0", "Zero O"), ("Hope", "Ηope"),
    ],
)  # fmt: skip
def test_names_that_look_alike_are_recognized(one, other):
    assert lines.look_alike(one, other) and lines.look_alike(other, one)


def test_ordinary_names_do_not_look_alike():
    names = ["Ada", "Adam", "Eva", "Zoë", "Zoe", *(f"Group {n}" for n in range(2, 200)), "Team α", "Team β", "名前"]
    for i, name in enumerate(names):
        assert lines.check_name(name) == name
        assert not [other for other in names[:i] if lines.look_alike(name, other)], name


@pytest.mark.parametrize("name", ["Αda", "Gr0up Оne", "pаypal", "Team Τau"])
def test_a_word_of_mixed_alphabets_that_look_alike_is_refused(name):
    with pytest.raises(RequestRefused, match="mixes letters of several alphabets"):
        lines.check_name(name)


def test_a_name_that_looks_like_another_groups_is_refused(store, group):
    store.groups.join("СОСОА", CODE)  # all Cyrillic
    for name, words in (("COCOA", "looks like that of the group СОСОА"), ("one", "already a group One")):
        with pytest.raises(RequestRefused, match=words):
            store.groups.join(name, CODE)
    assert store.groups.join_from_hub("user cocoa", "COCOA").name == "COCOA (2)"


def test_a_single_use_code_admits_one_group_and_the_common_code_none(store):
    made = store.groups.make_codes(3)
    assert store.settings.read().joining == "single-use" and len(set(made)) == 3
    first = store.groups.join("One", made[0])[0]
    for code, words in ((made[0], "used by another group"), (CODE, "each group gets its own"), ("\ud800", "its own")):
        with pytest.raises(RequestRefused, match=words) as refused:
            store.groups.join("Two", code)
        assert refused.value.status == 403
    with pytest.raises(RequestRefused, match="already"):  # a refused name uses no code up
        store.groups.join("ONE", made[1])
    assert store.groups.join("Two", made[1])[0].id == first.id + 1
    assert not any(code in str(store.log.read_lines()) for code in made) and audit.find_faults(store.log) == []
    for count in (0, 201):
        with pytest.raises(RequestRefused, match="1 to 200"):
            store.groups.make_codes(count)


def test_nobody_joins_while_joining_is_closed(store):
    store.settings.change({"joining": "closed"})
    with pytest.raises(RequestRefused, match="no more groups may join"):
        store.groups.join("One", CODE)
    store.settings.change({"joining": "code"})
    assert store.groups.join("One", CODE)[0].name == "One"


def test_a_group_is_renamed_and_its_former_name_is_free(store, group):
    other = store.groups.join("Two", CODE)[0].id
    store.groups.rename(group, "First")
    assert store.groups.find_by_number(group).name == "First"
    store.groups.rename(group, "FIRST")  # a name looks like itself
    with pytest.raises(RequestRefused, match="already a group FIRST"):
        store.groups.rename(other, "first")
    with pytest.raises(RequestRefused, match="no group 9"):
        store.groups.rename(9, "Nine")
    assert store.groups.join("One", CODE)[0].name == "One" and audit.find_faults(store.log) == []


def test_a_merged_group_gives_its_entries_and_its_identity_to_the_other(store, group):
    other, token = store.groups.join("Two", CODE)
    hub = store.groups.join_from_hub("user ada", "ada")
    for each in (group, other.id, hub.id):
        store.entries.accept(each, "same-key", make_entry())
    compute_scores(store)
    assert set(read_ranks(store)) == {"One", "Two", "ada"}
    store.groups.merge(other.id, group)
    store.groups.merge(hub.id, group)
    compute_scores(store)
    assert set(read_ranks(store)) == {"One"} and store.groups.find_by_token(token) is None
    assert [past.id for past in store.visible.read_history(group).entries] == [3, 2, 1]
    assert store.groups.join_from_hub("user ada", "ada").id == group == store.groups.find_by_number(hub.id).id
    assert store.entries.accept(group, "new", make_entry()) == (4, True)
    for wrong, into in ((group, group), (other.id, group), (group, 9)):
        with pytest.raises(RequestRefused):
            store.groups.merge(wrong, into)
    assert audit.find_faults(store.log) == []


def test_a_deleted_group_and_its_entries_are_off_the_board_and_the_log_says_so(store, group):
    token = store.groups.renew_token(group)
    hub = store.groups.join_from_hub("user ada", "ada").id
    store.entries.accept(group, "a", make_entry())
    store.entries.accept(hub, "b", make_entry())
    compute_scores(store)
    store.groups.delete(group)
    store.groups.delete(hub)
    compute_scores(store)
    assert read_ranks(store) == {} and store.visible.read_wall().progress["random"] == {}
    assert store.groups.find_by_token(token) is store.groups.find_by_number(group) is None
    assert store.visible.read_instructor_view().groups == [] and store.work.take_next_to_verify() is None
    with pytest.raises(RequestRefused, match="was deleted"):
        store.groups.join_from_hub("user ada", "ada")
    again = store.groups.join("One", CODE)[0]
    assert again.id == 3 and count_rows(store)["entries"] == 2
    assert [line.action for line in store.log.read_lines()][-3:-1] == ["deleted", "deleted"]
    assert audit.find_faults(store.log) == []


def test_the_members_of_a_group_are_one_line_that_it_writes(store, group):
    store.entries.accept(group, "a", make_entry())
    compute_scores(store)
    store.groups.set_members(group, "  Ada Lovelace,  Grace Hopper ")
    assert store.visible.read_standing().rows["random"][0].members == "Ada Lovelace, Grace Hopper"
    for wrong in ("x" * 201, "a\u202eb"):
        with pytest.raises(RequestRefused, match="the line of members"):
            store.groups.set_members(group, wrong)
    store.groups.set_members(group, "  ")
    assert store.groups.find_by_number(group).members == "" and audit.find_faults(store.log) == []
