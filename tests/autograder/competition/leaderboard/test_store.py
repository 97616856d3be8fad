"""What the board accepted is there, once, and within its limits, in SQLite and in PostgreSQL."""

import concurrent.futures
import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from datetime import timedelta

import numpy as np
import pytest
import sqlalchemy as sql
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext

from autograder.competition.leaderboard import rules, worker
from autograder.competition.leaderboard import store as stores
from autograder.competition.leaderboard.rules import Refused
from autograder.testing.board import CODE, count_rows, make_entry, make_settings, pass_deadline
from course.competition import scene, score


@pytest.fixture
def group(store):
    return store.join("One", CODE)[0].id


def scored(store):
    """Do all that the scoring worker has to do."""
    worker.Scoring(store).step()


def placed(store, split="random"):
    """Group -> rank, as everybody may see it."""
    _, _, _, counted, ranks = store.seen()
    return {each.name: ranks[split, each.id] for each in counted}


def test_the_tables_are_those_that_the_migrations_make(store):
    with store.reading() as connection:
        assert compare_metadata(MigrationContext.configure(connection), stores.metadata) == []


def test_a_board_is_opened_once_and_its_token_told_once(store):
    assert store.is_instructor(store.token) and not store.is_instructor("") and not store.is_instructor("é\x00")
    assert store.open(make_settings(name="Another")) is None and store.settings().name == "Test"


def test_machines_that_open_a_board_at_the_same_instant_open_one(url):
    """As where several start with one empty database."""
    program = (
        "import sys; from autograder.competition.leaderboard import store as s\n"
        "from autograder.testing.board import make_settings\n"
        "store = s.Store(sys.argv[1]); print('ready', flush=True); input()\n"
        "print(store.open(make_settings(name=sys.argv[2])) is not None, store.settings().name)"
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
    with small.writing() as connection:
        assert connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"
        assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == 2  # FULL


def test_a_group_joins_with_the_code_and_under_a_name_of_its_own(store):
    group, token = store.join("  Ada & the  ﬁelds ", CODE)
    assert group.name == "Ada & the fields" and store.group_of(token) == group == store.group(group.id)
    assert store.group_of(token[:-1]) is None and len(token) >= 32
    with store.reading() as connection:
        assert token not in str(connection.execute(sql.select(stores.groups)).fetchall())
    for name, code, words in (
        ("ADA & THE FIELDS", CODE, "already"), ("Other", "wrong", "the code"), ("Other", "é\ud800", "the code"),
    ):  # fmt: skip
        with pytest.raises(Refused, match=words):
            store.join(name, code)
    assert count_rows(store)["groups"] == 1


def test_groups_of_a_hub_are_found_again_and_take_nobodys_name(store):
    ada = store.join("ada", CODE)[0]
    user, team = store.known("user ada", "ada"), store.known("group ada", "ada")
    assert [each.name for each in (ada, user, team)] == ["ada", "ada (2)", "ada (3)"]
    assert store.known("user ada", "ada") == user


def test_the_same_request_again_makes_no_second_entry(store, group):
    one, other = make_entry(), make_entry()
    first = store.accept(group, "k", one)
    assert first == (1, True) and store.accept(group, "k", one) == (1, False)
    with pytest.raises(Refused, match="with another entry before") as refused:
        store.accept(group, "k", other)
    assert refused.value.status == 409
    second = store.join("Two", CODE)[0].id
    assert store.accept(second, "k", one) == (2, True)  # a key is a group's own
    pass_deadline(store)
    assert store.accept(group, "k", one) == (1, False)  # it was received before


def test_one_request_that_comes_many_times_at_once_makes_one_entry(store, group):
    one = make_entry()
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        got = list(pool.map(lambda _: store.accept(group, "k", one), range(16)))
    assert {number for number, _ in got} == {1} and sum(new for _, new in got) == 1
    assert count_rows(store)["entries"] == count_rows(store)["files"] == 1


def test_no_limit_is_overrun_by_posts_at_once_from_several_processes(url, store, group):
    """Threads of this process, and two others, as where several machines serve one PostgreSQL."""
    program = (
        "import sys, concurrent.futures as c; from autograder.competition.leaderboard import rules, store as s\n"
        "from autograder.testing.board import make_entry\n"
        "store = s.Store(sys.argv[1]); made = [make_entry() for _ in range(6)]; print('ready', flush=True); input()\n"
        "def post(e):\n"
        "    try: return store.accept(1, e.digest, e)[1]\n"
        "    except rules.Refused as r: return str(r.status)\n"
        "print(*c.ThreadPoolExecutor(6).map(post, made))"
    )
    others = [subprocess.Popen([sys.executable, "-c", program, url], stdin=-1, stdout=-1, text=True) for _ in range(2)]
    assert [other.stdout.readline() for other in others] == ["ready\n"] * 2
    for other in others:
        other.stdin.write("\n")
        other.stdin.flush()
    said = " ".join(other.communicate()[0] for other in others).split()
    assert sorted(said) == ["429"] * 7 + ["True"] * 5
    assert count_rows(store)["entries"] == 5 and store.left_today(group) == 0
    assert not rules_broken(store)


def rules_broken(store):
    from autograder.competition.leaderboard import audit

    return audit.faults(store)


def test_a_day_is_one_of_the_boards_time_zone(store, group):
    store.change({"time_zone": "Pacific/Auckland", "per_day": 1, "deadline": "2100-01-01T00:00:00"})
    midnight = rules.day(store.settings(), rules.now())[0]
    store.accept(group, "a", make_entry(), midnight)
    store.accept(group, "b", make_entry(), midnight - timedelta(seconds=1))
    with pytest.raises(Refused, match=r"1 times today, and 1 are allowed: hand in again from .* \(Pacific/Auckland\)"):
        store.accept(group, "c", make_entry(), midnight + timedelta(hours=20))
    store.accept(group, "d", make_entry(), midnight + timedelta(hours=26))


def test_nothing_comes_in_after_the_deadline_or_while_the_board_is_frozen(store, group):
    store.freeze(True)
    with pytest.raises(Refused, match="frozen"):
        store.accept(group, "a", make_entry())
    store.freeze(False)
    number, _ = store.accept(group, "a", make_entry())
    with pytest.raises(Refused, match="deadline"):
        store.accept(group, "b", make_entry(), store.settings().deadline)
    # what was received before it counts, also when it is written after it
    before = rules.now()
    pass_deadline(store)
    with pytest.raises(Refused, match="deadline"):
        store.accept(group, "b", make_entry(), before)
    with pytest.raises(Refused, match="can no longer be chosen"):
        store.choose(group, number)
    assert count_rows(store)["entries"] == 1


def test_the_chosen_entry_counts_else_the_last_one_that_was_not_withdrawn(store, group):
    for key in "abc":
        store.accept(group, key, make_entry())
    other = store.join("Two", CODE)[0].id
    counts = lambda: [past.id for past in store.history(group) if past.counts]  # noqa: E731
    assert counts() == [3]
    store.choose(group, 1)
    assert counts() == [1] and [past.chosen for past in store.history(group)] == [False, False, True]
    for who, number in ((other, 1), (group, 9)):
        with pytest.raises(Refused, match="has no entry"):
            store.choose(who, number)
    store.withdraw(1, "not your own")
    assert counts() == [3] and store.history(group)[2].withdrawn == "not your own"
    with pytest.raises(Refused, match="was withdrawn"):
        store.choose(group, 1)
    store.withdraw(3, "again")
    store.withdraw(2, "again")
    assert counts() == [] and store.left_today(group) == 2  # what was handed in was handed in


def test_scores_and_ranks_are_the_scorers(store):
    maps = {}
    for name, wrong in (("A", 0.02), ("B", 0.3), ("C", 0.021)):
        made = make_entry(wrong)
        store.accept(store.join(name, CODE)[0].id, name, made)
        maps[name] = score.read_map(made.random)
    assert placed(store) == {}
    scored(store)
    assert placed(store) == score.ranks(maps, "random") == {"A": 1, "B": 3, "C": 1}
    got = score.score(maps["B"], "random")
    assert store.seen()[3][1].scores["random"] == worker.numbers(got)
    shown = store.shown()
    scored(store)
    assert store.shown() == shown  # nothing new to see, nothing ranked again


def test_who_is_not_verified_takes_no_rank_from_who_is(store):
    for name, wrong in (("cheat", 0.0), ("good", 0.05), ("fair", 0.2), ("new", 0.1)):
        store.accept(store.join(name, CODE)[0].id, name, make_entry(wrong))
    scored(store)
    assert placed(store) == {"cheat": 1, "good": 2, "new": 3, "fair": 4}
    for state in ("flagged", "verified", "verified"):
        number, part = store.to_verify()
        store.put_verdict(number, part, state, "as it is")
    scored(store)
    assert placed(store) == {"cheat": None, "good": 1, "fair": 2, "new": 2}


def test_nothing_of_the_private_part_is_computed_before_the_deadline(store, group):
    store.accept(group, "a", make_entry())
    store.accept(group, "b", make_entry())
    scored(store)
    assert store.unscored("private") == [] and store.to_verify() == (2, "public")
    store.put_verdict(2, "public", "verified", "")
    assert store.to_verify() is None
    assert private(store) == 0 and set(store.history(group)[0].scores) == {"public"}
    pass_deadline(store)
    assert store.unscored("private") == [2]  # of the entry that counts, alone
    scored(store)
    assert private(store) == 2 and store.seen()[1] == "private"
    assert set(store.history(group)[0].scores) == {"public", "private"} and store.history(group)[0].state == "waiting"


def private(store):
    """How many private scores and ranks there are."""
    with store.reading() as connection:
        return connection.scalar(
            sql.select(sql.func.count()).select_from(stores.scores).where(stores.scores.c.part == "private")
        )


def test_once_private_results_are_out_the_deadline_does_not_move_to_a_later_time(store, group):
    store.accept(group, "a", make_entry())
    pass_deadline(store)
    store.change({"deadline": (rules.now() + timedelta(days=1)).isoformat()})  # nothing is out yet
    pass_deadline(store)
    scored(store)
    for _ in range(2):
        with pytest.raises(Refused, match="private results are out"):
            store.change({"deadline": (rules.now() + timedelta(days=1)).isoformat()})
        store.rescore()  # they are gone, and were seen


def test_in_the_end_the_map_of_the_run_counts(store, group):
    made, again = make_entry(0.1), score.read_map(make_entry(0.12).random)
    store.accept(group, "a", made)
    pass_deadline(store)
    scored(store)
    number, part = store.to_verify()
    assert part == "private"
    maps = {split: worker.saved(again) for split in scene.SPLITS}
    store.put_verdict(number, part, "verified", "as it is", {"seed": 1}, maps)
    scored(store)
    shown = store.history(group)[0].scores
    assert shown["private"]["random"]["overall"] == score.score(again, "random", "private").overall
    assert shown["public"]["random"]["overall"] == score.score(score.read_map(made.random), "random").overall
    assert store.verdicts(number)["private"]["seed"] == 1 and store.seen()[3][0].state == "verified"


def test_a_verifier_that_died_goes_on_and_one_entry_that_kills_it_is_given_up(store, group):
    store.accept(group, "a", make_entry())
    other = store.join("Two", CODE)[0].id
    store.accept(other, "b", make_entry())
    scored(store)
    tried = [store.to_verify()[0] for _ in range(6)]  # each time it dies
    assert sorted(tried) == [1, 1, 1, 2, 2, 2] and tried[0] != tried[1]
    assert store.to_verify() is None
    assert {each.state for each in store.seen()[3]} == {"refused"}
    store.rescore()
    scored(store)
    assert store.to_verify() is not None


def test_an_entry_that_could_not_be_verified_waits_and_others_come_first(store, group):
    store.accept(group, "a", make_entry())
    store.accept(store.join("Two", CODE)[0].id, "b", make_entry())
    scored(store)
    store.put_verdict(*store.to_verify(), "waiting", "there is no sandbox.")
    assert store.history(group)[0].said == "there is no sandbox."
    assert store.to_verify() == (2, "public")


def test_rescoring_makes_all_scores_anew_and_keeps_who_was_verified(store, group):
    store.accept(group, "a", make_entry())
    scored(store)
    store.put_verdict(*store.to_verify(), "verified", "")
    scored(store)
    with store.writing() as connection:
        connection.execute(stores.scores.update().values(numbers='{"overall":2,"recall":{}}'))
    store.rescore()
    assert store.seen()[3] == []
    scored(store)
    (counted,) = store.seen()[3]
    assert counted.scores["random"]["overall"] < 1 and counted.state == "verified" and placed(store) == {"One": 1}


def test_a_withdrawn_entry_is_not_shown_any_more(store, group):
    store.accept(group, "a", make_entry())
    scored(store)
    store.withdraw(1, "copied")
    assert store.seen()[3] == [] and store.progress() == []


def test_one_process_at_a_time_does_a_workers_work(url, store):
    other = stores.Store(url)
    with store.only_one("score") as first, other.only_one("score") as second, other.only_one("verify") as third:
        assert first and not second and third
    for each in [other, store] * 20:  # at once, where it was given back
        with each.only_one("score") as now:
            assert now
    other.close()


def test_readers_see_one_moment_and_do_not_wait_for_who_writes(store, group):
    writing, done = threading.Event(), threading.Event()

    def write():
        with store.writing() as connection:
            connection.execute(stores.board.update().values(name="half"))
            writing.set()
            done.wait(20)

    thread = threading.Thread(target=write)
    thread.start()
    assert writing.wait(20) and store.settings().name == "Test"
    done.set()
    thread.join()
    assert store.settings().name == "half"


def test_what_was_acknowledged_is_there_after_kill_9(url, store, group):
    """A process accepts one entry after the other and says each number once it has it; it is killed in the middle."""
    store.change({"per_day": 1000})
    program = (
        "import sys; from autograder.competition.leaderboard import store as s\n"
        "from autograder.testing.board import make_entry\n"
        "store, one = s.Store(sys.argv[1]), make_entry()\n"
        "for n in range(1000): print(store.accept(1, f'k{n}', one)[0], flush=True)"
    )
    process = subprocess.Popen([sys.executable, "-c", program, url], stdout=subprocess.PIPE, text=True)
    said = [int(process.stdout.readline()) for _ in range(20)]
    os.kill(process.pid, signal.SIGKILL)
    said += [int(line) for line in process.stdout if line.strip()]
    process.wait()
    process.stdout.close()
    there = [past.id for past in store.history(group)]
    assert set(said) <= set(there) and len(set(there)) == len(there) <= len(said) + 1
    again = store.accept(group, "k0", entry_of(store, 1))
    assert again == (said[0], False) and not rules_broken(store)


def entry_of(store, number):
    return rules.Entry(*(store.file(number, name) for name in (*scene.SPLITS, "notebook")))


def test_a_copy_has_every_row_and_can_go_into_the_other_database(store, group, tmp_path):
    store.accept(group, "a", make_entry())
    scored(store)
    with contextlib.closing(stores.Store(f"sqlite:///{tmp_path / 'copy.sqlite'}")) as copy:
        stores.migrate(copy.engine)
        assert store.copy_to(copy) == store.head() == copy.head()
        assert count_rows(copy) == count_rows(store) and copy.seen() == store.seen() and not rules_broken(copy)
        assert copy.accept(group, "b", make_entry()) == (2, True)


def test_a_database_that_is_none_is_said_in_one_sentence(tmp_path):
    from course.errors import Problem

    for url in ("mysql://x/y", "nonsense", "postgresql://nobody@127.0.0.1:1/x"):
        with pytest.raises(Problem):
            stores.Store(url).open(make_settings())
    (tmp_path / "x").write_text("no database" * 1000)
    with pytest.raises(Problem):
        stores.Store(f"sqlite:///{tmp_path / 'x'}").open(make_settings())


def test_verdicts_become_plain_values():
    assert json.dumps(worker.plain({"a": (np.float64(1.5), np.bool_(True)), "b": [np.int64(3)]})) == (
        '{"a": [1.5, true], "b": [3]}'
    )
