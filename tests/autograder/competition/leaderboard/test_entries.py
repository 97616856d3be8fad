"""Groups and entries in the store: each is there once, and within its limits, in SQLite and in PostgreSQL."""

import concurrent.futures
import subprocess
import sys
from datetime import timedelta

import pytest
import sqlalchemy as sql

from autograder.competition.leaderboard import audit, rules
from autograder.competition.leaderboard.rules import RequestRefused
from autograder.competition.leaderboard.store import tables
from autograder.testing.board import (
    CODE,
    count_rows,
    make_entry,
    pass_deadline,
)


def test_a_group_joins_with_the_code_and_a_name_that_no_other_group_has(store):
    group, token = store.groups.join("  Ada & the  ﬁelds ", CODE)
    assert group.name == "Ada & the fields"
    assert store.groups.find_by_token(token) == group == store.groups.find_by_number(group.id)
    assert store.groups.find_by_token(token[:-1]) is None and len(token) >= 32
    with store.database.reading() as connection:
        assert token not in str(connection.execute(sql.select(tables.groups)).fetchall())
    for name, code, words in (
        ("ADA & THE FIELDS", CODE, "already"), ("Other", "wrong", "the code"), ("Other", "é\ud800", "the code"),
    ):  # fmt: skip
        with pytest.raises(RequestRefused, match=words):
            store.groups.join(name, code)
    assert count_rows(store)["groups"] == 1


def test_groups_of_a_hub_are_found_again_and_get_a_free_name(store):
    ada = store.groups.join("ada", CODE)[0]
    user, team = store.groups.join_from_hub("user ada", "ada"), store.groups.join_from_hub("group ada", "ada")
    assert [each.name for each in (ada, user, team)] == ["ada", "ada (2)", "ada (3)"]
    assert store.groups.join_from_hub("user ada", "ada") == user


def test_the_same_request_again_makes_no_second_entry(store, group):
    one, other = make_entry(), make_entry()
    first = store.entries.accept(group, "k", one)
    assert first == (1, True) and store.entries.accept(group, "k", one) == (1, False)
    with pytest.raises(RequestRefused, match="with another entry before") as refused:
        store.entries.accept(group, "k", other)
    assert refused.value.status == 409
    second = store.groups.join("Two", CODE)[0].id
    assert store.entries.accept(second, "k", one) == (2, True)  # another group may use the same key
    pass_deadline(store)
    assert store.entries.accept(group, "k", one) == (1, False)  # this entry was received before the deadline


def test_one_request_that_comes_many_times_at_once_makes_one_entry(store, group):
    one = make_entry()
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        got = list(pool.map(lambda _: store.entries.accept(group, "k", one), range(16)))
    assert {number for number, _ in got} == {1} and sum(new for _, new in got) == 1
    assert count_rows(store)["entries"] == count_rows(store)["files"] == 1


@pytest.mark.long
def test_no_limit_is_overrun_by_posts_at_once_from_several_processes(url, store, group):
    """Two processes with six threads each, as when several machines serve one PostgreSQL."""
    program = (
        "import sys, concurrent.futures as c; from autograder.competition.leaderboard import rules, store as s\n"
        "from autograder.testing.board import make_entry\n"
        "store = s.Store(sys.argv[1]); made = [make_entry() for _ in range(6)]; print('ready', flush=True); input()\n"
        "def post(e):\n"
        "    try: return store.entries.accept(1, e.digest, e)[1]\n"
        "    except rules.RequestRefused as r: return str(r.status)\n"
        "print(*c.ThreadPoolExecutor(6).map(post, made))"
    )
    others = [subprocess.Popen([sys.executable, "-c", program, url], stdin=-1, stdout=-1, text=True) for _ in range(2)]
    assert [other.stdout.readline() for other in others] == ["ready\n"] * 2
    for other in others:
        other.stdin.write("\n")
        other.stdin.flush()
    answers = " ".join(other.communicate()[0] for other in others).split()
    assert sorted(answers) == ["429"] * 7 + ["True"] * 5
    assert count_rows(store)["entries"] == 5 and store.visible.read_history(group).left_today == 0
    assert not audit.find_faults(store.log)


def test_a_day_is_a_day_in_the_boards_time_zone(store, group):
    store.settings.change(
        {"time_zone": "Pacific/Auckland", "per_day": 1, "deadline": "2100-01-01T00:00:00"}, is_confirmed=True
    )
    midnight = rules.find_day(store.settings.read(), rules.now())[0]
    store.entries.accept(group, "a", make_entry(), midnight)
    store.entries.accept(group, "b", make_entry(), midnight - timedelta(seconds=1))
    with pytest.raises(RequestRefused, match=r"1 times today, .* hand in again from .* \(Pacific/Auckland\)"):
        store.entries.accept(group, "c", make_entry(), midnight + timedelta(hours=20))
    store.entries.accept(group, "d", make_entry(), midnight + timedelta(hours=26))


def test_no_entry_is_accepted_after_the_deadline_or_while_the_board_is_frozen(store, group):
    store.settings.freeze(True)
    with pytest.raises(RequestRefused, match="frozen"):
        store.entries.accept(group, "a", make_entry())
    store.settings.freeze(False)
    number, _ = store.entries.accept(group, "a", make_entry())
    with pytest.raises(RequestRefused, match="deadline"):
        store.entries.accept(group, "b", make_entry(), store.settings.read().deadline)
    # An entry that was received before the deadline counts, even if it is stored after it.
    before = rules.now()
    pass_deadline(store)
    with pytest.raises(RequestRefused, match="deadline"):
        store.entries.accept(group, "b", make_entry(), before)
    with pytest.raises(RequestRefused, match="can no longer be chosen"):
        store.entries.choose(group, number)
    assert count_rows(store)["entries"] == 1


def test_the_chosen_entry_counts_otherwise_the_last_one_that_is_not_withdrawn(store, group):
    for key in "abc":
        store.entries.accept(group, key, make_entry())
    other = store.groups.join("Two", CODE)[0].id
    counts = lambda: [past.id for past in store.visible.read_history(group).entries if past.counts]  # noqa: E731
    assert counts() == [3]
    store.entries.choose(group, 1)
    assert counts() == [1]
    assert [past.is_chosen for past in store.visible.read_history(group).entries] == [False, False, True]
    for who, number in ((other, 1), (group, 9)):
        with pytest.raises(RequestRefused, match="has no entry"):
            store.entries.choose(who, number)
    store.entries.withdraw(1, "not your own")
    assert counts() == [3] and store.visible.read_history(group).entries[2].withdrawn == "not your own"
    with pytest.raises(RequestRefused, match="was withdrawn"):
        store.entries.choose(group, 1)
    store.entries.withdraw(3, "again")
    store.entries.withdraw(2, "again")
    assert counts() == []
    assert store.visible.read_history(group).left_today == 2  # withdrawn entries count towards the limit
