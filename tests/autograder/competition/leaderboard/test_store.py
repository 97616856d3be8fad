"""What the board accepted is there, once, and within its limits, in SQLite and in PostgreSQL."""

import concurrent.futures
import contextlib
import dataclasses
import json
import os
import signal
import subprocess
import sys
import threading
import time
from datetime import timedelta

import numpy as np
import pytest
import sqlalchemy as sql
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext

from autograder.competition.leaderboard import rules, worker
from autograder.competition.leaderboard.rules import RequestRefused
from autograder.competition.leaderboard.store import Store, tables
from autograder.testing.board import CODE, count_rows, make_entry, make_settings, pass_deadline
from course.competition import scene, score


@pytest.fixture
def group(store):
    return store.groups.join("One", CODE)[0].id


def scored(store):
    """Do all that the scoring worker has to do."""
    worker.Scoring(store).step()


def placed(store, split="random"):
    """Group -> rank, as everybody may see it."""
    return {row.group: row.rank for row in store.visible.standing().rows[split]}


def counting(store):
    """The entries that count and have scores, in the order of their groups."""
    return [entry for entry in store.visible.instructor().counting if entry.is_scored]


def test_the_tables_are_those_that_the_migrations_make(store):
    with store.database.reading() as connection:
        assert compare_metadata(MigrationContext.configure(connection), tables.metadata) == []


def test_a_board_is_made_once_and_its_token_is_returned_once(store):
    assert store.settings.is_instructor(store.token)
    assert not store.settings.is_instructor("") and not store.settings.is_instructor("é\x00")
    assert store.open(make_settings(name="Another")) is None and store.settings.read().name == "Test"


def test_machines_that_open_a_board_at_the_same_instant_open_one(url):
    """As where several start with one empty database."""
    program = (
        "import sys; from autograder.competition.leaderboard import store as s\n"
        "from autograder.testing.board import make_settings\n"
        "store = s.Store(sys.argv[1]); print('ready', flush=True); input()\n"
        "print(store.open(make_settings(name=sys.argv[2])) is not None, store.settings.read().name)"
    )
    others = [
        subprocess.Popen([sys.executable, "-c", program, url, name], stdin=-1, stdout=-1, text=True) for name in "ABC"
    ]
    assert [other.stdout.readline() for other in others] == ["ready\n"] * 3
    for other in others:
        other.stdin.write("\n")
        other.stdin.flush()
    said = [other.communicate()[0].split() for other in others]
    assert sorted(made for made, _ in said) == ["False", "False", "True"] and len({name for _, name in said}) == 1


def test_sqlite_writes_to_the_disk_before_it_answers(small):
    with small.database.writing() as connection:
        assert connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"
        assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == 2  # FULL


def test_a_group_joins_with_the_code_and_under_a_name_of_its_own(store):
    group, token = store.groups.join("  Ada & the  ﬁelds ", CODE)
    assert group.name == "Ada & the fields"
    assert store.groups.by_token(token) == group == store.groups.by_number(group.id)
    assert store.groups.by_token(token[:-1]) is None and len(token) >= 32
    with store.database.reading() as connection:
        assert token not in str(connection.execute(sql.select(tables.groups)).fetchall())
    for name, code, words in (
        ("ADA & THE FIELDS", CODE, "already"), ("Other", "wrong", "the code"), ("Other", "é\ud800", "the code"),
    ):  # fmt: skip
        with pytest.raises(RequestRefused, match=words):
            store.groups.join(name, code)
    assert count_rows(store)["groups"] == 1


def test_groups_of_a_hub_are_found_again_and_take_nobodys_name(store):
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
    assert store.entries.accept(second, "k", one) == (2, True)  # a key is a group's own
    pass_deadline(store)
    assert store.entries.accept(group, "k", one) == (1, False)  # it was received before


def test_one_request_that_comes_many_times_at_once_makes_one_entry(store, group):
    one = make_entry()
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        got = list(pool.map(lambda _: store.entries.accept(group, "k", one), range(16)))
    assert {number for number, _ in got} == {1} and sum(new for _, new in got) == 1
    assert count_rows(store)["entries"] == count_rows(store)["files"] == 1


def test_no_limit_is_overrun_by_posts_at_once_from_several_processes(url, store, group):
    """Threads of this process, and two others, as where several machines serve one PostgreSQL."""
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
    said = " ".join(other.communicate()[0] for other in others).split()
    assert sorted(said) == ["429"] * 7 + ["True"] * 5
    assert count_rows(store)["entries"] == 5 and store.visible.history(group).left_today == 0
    assert not rules_broken(store)


def rules_broken(store):
    from autograder.competition.leaderboard import audit

    return audit.find_faults(store.log)


def test_a_day_is_one_of_the_boards_time_zone(store, group):
    store.settings.change({"time_zone": "Pacific/Auckland", "per_day": 1, "deadline": "2100-01-01T00:00:00"})
    midnight = rules.day_around(store.settings.read(), rules.now())[0]
    store.entries.accept(group, "a", make_entry(), midnight)
    store.entries.accept(group, "b", make_entry(), midnight - timedelta(seconds=1))
    with pytest.raises(RequestRefused, match=r"1 times today, .* hand in again from .* \(Pacific/Auckland\)"):
        store.entries.accept(group, "c", make_entry(), midnight + timedelta(hours=20))
    store.entries.accept(group, "d", make_entry(), midnight + timedelta(hours=26))


def test_nothing_comes_in_after_the_deadline_or_while_the_board_is_frozen(store, group):
    store.settings.freeze(True)
    with pytest.raises(RequestRefused, match="frozen"):
        store.entries.accept(group, "a", make_entry())
    store.settings.freeze(False)
    number, _ = store.entries.accept(group, "a", make_entry())
    with pytest.raises(RequestRefused, match="deadline"):
        store.entries.accept(group, "b", make_entry(), store.settings.read().deadline)
    # what was received before it counts, also when it is written after it
    before = rules.now()
    pass_deadline(store)
    with pytest.raises(RequestRefused, match="deadline"):
        store.entries.accept(group, "b", make_entry(), before)
    with pytest.raises(RequestRefused, match="can no longer be chosen"):
        store.entries.choose(group, number)
    assert count_rows(store)["entries"] == 1


def test_the_chosen_entry_counts_else_the_last_one_that_was_not_withdrawn(store, group):
    for key in "abc":
        store.entries.accept(group, key, make_entry())
    other = store.groups.join("Two", CODE)[0].id
    counts = lambda: [past.id for past in store.visible.history(group).entries if past.counts]  # noqa: E731
    assert counts() == [3]
    store.entries.choose(group, 1)
    assert counts() == [1] and [past.is_chosen for past in store.visible.history(group).entries] == [False, False, True]
    for who, number in ((other, 1), (group, 9)):
        with pytest.raises(RequestRefused, match="has no entry"):
            store.entries.choose(who, number)
    store.entries.withdraw(1, "not your own")
    assert counts() == [3] and store.visible.history(group).entries[2].withdrawn == "not your own"
    with pytest.raises(RequestRefused, match="was withdrawn"):
        store.entries.choose(group, 1)
    store.entries.withdraw(3, "again")
    store.entries.withdraw(2, "again")
    assert counts() == [] and store.visible.history(group).left_today == 2  # what was handed in was handed in


def test_scores_and_ranks_are_the_scorers(store):
    maps = {}
    for name, wrong in (("A", 0.02), ("B", 0.3), ("C", 0.021)):
        made = make_entry(wrong)
        store.entries.accept(store.groups.join(name, CODE)[0].id, name, made)
        maps[name] = score.read_map(made.random)
    assert placed(store) == {}
    scored(store)
    assert placed(store) == score.ranks(maps, "random") == {"A": 1, "B": 3, "C": 1}
    got = score.score(maps["B"], "random")
    assert counting(store)[1].scores["random"] == worker.as_numbers(got)
    shown = store.visible.version()
    scored(store)
    assert store.visible.version() == shown  # nothing new to see, nothing ranked again


def test_who_is_not_verified_takes_no_rank_from_who_is(store):
    for name, wrong in (("cheat", 0.0), ("good", 0.05), ("fair", 0.2), ("new", 0.1)):
        store.entries.accept(store.groups.join(name, CODE)[0].id, name, make_entry(wrong))
    scored(store)
    assert placed(store) == {"cheat": 1, "good": 2, "new": 3, "fair": 4}
    for state in ("flagged", "verified", "verified"):
        number, part = store.work.take_next_to_verify()
        store.work.put_verdict(number, part, state, "as it is")
    scored(store)
    assert placed(store) == {"cheat": None, "good": 1, "fair": 2, "new": 2}


def test_nothing_of_the_private_part_is_computed_before_the_deadline(store, group):
    store.entries.accept(group, "a", make_entry())
    store.entries.accept(group, "b", make_entry())
    scored(store)
    assert store.work.find_unscored("private") == [] and store.work.take_next_to_verify() == (2, "public")
    store.work.put_verdict(2, "public", "verified", "")
    assert store.work.take_next_to_verify() is None
    assert private(store) == 0 and set(store.visible.history(group).entries[0].scores) == {"public"}
    pass_deadline(store)
    assert store.work.find_unscored("private") == [2]  # of the entry that counts, alone
    scored(store)
    assert private(store) == 2 and store.visible.standing().part == "private"
    past = store.visible.history(group).entries[0]
    assert set(past.scores) == {"public", "private"} and past.state == "waiting"


def private(store):
    """How many private scores and ranks there are."""
    with store.database.reading() as connection:
        return connection.scalar(
            sql.select(sql.func.count()).select_from(tables.scores).where(tables.scores.c.part == "private")
        )


def test_once_private_results_are_out_the_deadline_does_not_move_to_a_later_time(store, group):
    store.entries.accept(group, "a", make_entry())
    pass_deadline(store)
    store.settings.change({"deadline": (rules.now() + timedelta(days=1)).isoformat()})  # nothing is out yet
    pass_deadline(store)
    scored(store)
    for _ in range(2):
        with pytest.raises(RequestRefused, match="private results are out"):
            store.settings.change({"deadline": (rules.now() + timedelta(days=1)).isoformat()})
        store.work.rescore()  # they are gone, and were seen


def test_in_the_end_the_map_of_the_run_counts(store, group):
    made, again = make_entry(0.1), score.read_map(make_entry(0.12).random)
    store.entries.accept(group, "a", made)
    pass_deadline(store)
    scored(store)
    number, part = store.work.take_next_to_verify()
    assert part == "private"
    maps = {split: worker.as_npy(again) for split in scene.SPLITS}
    store.work.put_verdict(number, part, "verified", "as it is", {"seed": 1}, maps)
    scored(store)
    shown = store.visible.history(group).entries[0].scores
    assert shown["private"]["random"]["overall"] == score.score(again, "random", "private").overall
    assert shown["public"]["random"]["overall"] == score.score(score.read_map(made.random), "random").overall
    assert store.entries.read_verdicts(number)["private"]["seed"] == 1 and counting(store)[0].state == "verified"


def test_a_verifier_that_died_goes_on_and_one_entry_that_kills_it_is_given_up(store, group):
    store.entries.accept(group, "a", make_entry())
    other = store.groups.join("Two", CODE)[0].id
    store.entries.accept(other, "b", make_entry())
    scored(store)
    tried = [store.work.take_next_to_verify()[0] for _ in range(6)]  # each time it dies
    assert sorted(tried) == [1, 1, 1, 2, 2, 2] and tried[0] != tried[1]
    assert store.work.take_next_to_verify() is None
    assert {each.state for each in counting(store)} == {"refused"}
    store.work.rescore()
    scored(store)
    assert store.work.take_next_to_verify() is not None


def test_an_entry_that_could_not_be_verified_waits_and_others_come_first(store, group):
    store.entries.accept(group, "a", make_entry())
    store.entries.accept(store.groups.join("Two", CODE)[0].id, "b", make_entry())
    scored(store)
    store.work.put_verdict(*store.work.take_next_to_verify(), "waiting", "there is no sandbox.")
    assert store.visible.history(group).entries[0].remark == "there is no sandbox."
    assert store.work.take_next_to_verify() == (2, "public")


def test_rescoring_makes_all_scores_anew_and_keeps_who_was_verified(store, group):
    store.entries.accept(group, "a", make_entry())
    scored(store)
    store.work.put_verdict(*store.work.take_next_to_verify(), "verified", "")
    scored(store)
    with store.database.writing() as connection:
        connection.execute(tables.scores.update().values(numbers='{"overall":2,"recall":{}}'))
    store.work.rescore()
    assert counting(store) == []
    scored(store)
    (counted,) = counting(store)
    assert counted.scores["random"]["overall"] < 1 and counted.state == "verified" and placed(store) == {"One": 1}


def test_a_withdrawn_entry_is_not_shown_any_more(store, group):
    store.entries.accept(group, "a", make_entry())
    scored(store)
    store.entries.withdraw(1, "copied")
    assert counting(store) == [] and not any(store.visible.wall().progress.values())


def test_one_process_at_a_time_does_a_workers_work(url, store):
    other = Store(url)
    mine, theirs = store.database, other.database
    with (
        mine.working_alone("score") as first,
        theirs.working_alone("score") as second,
        theirs.working_alone("verify") as third,
    ):
        assert first and not second and third
    for each in [theirs, mine] * 20:  # immediately after it was released
        with each.working_alone("score") as is_alone:
            assert is_alone
    other.close()


def test_a_worker_that_is_killed_leaves_its_work_to_another(url, store):
    program = (
        "import sys; from autograder.competition.leaderboard.store import Store\n"
        "with Store(sys.argv[1]).database.working_alone('score') as is_alone: print(is_alone, flush=True); input()"
    )
    process = subprocess.Popen([sys.executable, "-c", program, url], stdin=-1, stdout=-1, text=True)
    assert process.stdout.readline() == "True\n"
    with store.database.working_alone("score") as is_alone:
        assert not is_alone
    process.kill()
    process.communicate()
    deadline = time.monotonic() + 60
    while not is_alone and time.monotonic() < deadline:
        with store.database.working_alone("score") as is_alone:
            time.sleep(0.05)
    assert is_alone


def test_what_a_page_shows_is_read_in_one_transaction(store, group):
    store.entries.accept(group, "a", make_entry())
    scored(store)
    begun = []
    sql.event.listen(store.database.engine, "begin", begun.append)
    visible = store.visible
    for read in (visible.standing, visible.wall, lambda: visible.group(group), lambda: visible.instructor(group)):
        begun.clear()
        read()
        assert len(begun) == 1


def test_the_wall_is_read_again_only_when_it_would_look_different(store, group, monkeypatch):
    store.entries.accept(group, "a", make_entry())
    scored(store)
    wall = store.visible.wall()
    assert store.visible.wall(wall) is wall
    store.settings.change({"name": "Another"})
    changed = store.visible.wall(wall)
    assert changed is not wall and changed.standing.settings.name == "Another"
    deadline = store.settings.read().deadline
    monkeypatch.setattr(rules, "now", lambda: deadline)
    assert store.visible.wall(changed).standing.part == "private"


def test_readers_see_one_moment_and_do_not_wait_for_who_writes(store, group):
    writing, done = threading.Event(), threading.Event()

    def write():
        with store.database.writing() as connection:
            connection.execute(tables.board.update().values(name="half"))
            writing.set()
            done.wait(20)

    thread = threading.Thread(target=write)
    thread.start()
    assert writing.wait(20) and store.settings.read().name == "Test"
    done.set()
    thread.join()
    assert store.settings.read().name == "half"


def test_what_was_acknowledged_is_there_after_kill_9(url, store, group):
    """A process accepts one entry after the other and says each number once it has it; it is killed in the middle."""
    store.settings.change({"per_day": 1000})
    program = (
        "import sys; from autograder.competition.leaderboard import store as s\n"
        "from autograder.testing.board import make_entry\n"
        "store, one = s.Store(sys.argv[1]), make_entry()\n"
        "for n in range(1000): print(store.entries.accept(1, f'k{n}', one)[0], flush=True)"
    )
    process = subprocess.Popen([sys.executable, "-c", program, url], stdout=subprocess.PIPE, text=True)
    said = [int(process.stdout.readline()) for _ in range(20)]
    os.kill(process.pid, signal.SIGKILL)
    said += [int(line) for line in process.stdout if line.strip()]
    process.wait()
    process.stdout.close()
    there = [past.id for past in store.visible.history(group).entries]
    assert set(said) <= set(there) and len(set(there)) == len(there) <= len(said) + 1
    again = store.entries.accept(group, "k0", entry_of(store, 1))
    assert again == (said[0], False) and not rules_broken(store)


def entry_of(store, number):
    return rules.Entry(*(store.entries.read_file(number, name) for name in (*scene.SPLITS, "notebook")))


def same_moment(*stores):
    """Whether these stores have the same standing."""
    one, other = (dataclasses.replace(store.visible.standing(), read_at=None) for store in stores)
    return one == other


def test_a_copy_has_every_row_and_can_go_into_the_other_database(store, group, tmp_path):
    store.entries.accept(group, "a", make_entry())
    scored(store)
    with contextlib.closing(Store(f"sqlite:///{tmp_path / 'copy.sqlite'}")) as copy:
        copy.database.migrate()
        assert store.copy_to(copy) == store.log.head() == copy.log.head()
        assert count_rows(copy) == count_rows(store) and same_moment(copy, store) and not rules_broken(copy)
        assert copy.entries.accept(group, "b", make_entry()) == (2, True)


def test_a_database_that_is_none_is_said_in_one_sentence(tmp_path):
    from course.errors import Problem

    for url in ("mysql://x/y", "nonsense", "postgresql://nobody@127.0.0.1:1/x"):
        with pytest.raises(Problem):
            Store(url).open(make_settings())
    (tmp_path / "x").write_text("no database" * 1000)
    with pytest.raises(Problem):
        Store(f"sqlite:///{tmp_path / 'x'}").open(make_settings())


def test_verdicts_become_plain_values():
    assert json.dumps(worker.as_plain({"a": (np.float64(1.5), np.bool_(True)), "b": [np.int64(3)]})) == (
        '{"a": [1.5, true], "b": [3]}'
    )
