"""The workers' part of the store: scores, ranks, verifications, in SQLite and in PostgreSQL."""

import json
import subprocess
import sys
import time
from datetime import timedelta

import numpy as np
import pytest
import sqlalchemy as sql

from autograder.competition import verifier
from autograder.competition.leaderboard import rules, worker
from autograder.competition.leaderboard.rules import RequestRefused
from autograder.competition.leaderboard.store import Store, tables
from autograder.testing.board import (
    CODE,
    NOTEBOOK,
    compute_scores,
    make_entry,
    pass_deadline,
    read_counting,
    read_ranks,
)
from autograder.testing.maps import make_noisy_map, to_npy
from course.competition import scene, score


def test_scores_and_ranks_are_those_of_the_scorer(store):
    maps = {}
    for name, wrong, seed in (("A", 0.02, 0), ("B", 0.3, 1), ("C", 0.021, 3)):
        label_map = to_npy(make_noisy_map(wrong, seed))
        made = rules.Entry(label_map, label_map, NOTEBOOK.encode())
        store.entries.accept(store.groups.join(name, CODE)[0].id, name, made)
        maps[name] = score.read_map(made.random)
    assert read_ranks(store) == {}
    compute_scores(store)
    assert read_ranks(store) == score.ranks(maps, "random") == {"A": 1, "B": 3, "C": 1}
    got = score.score(maps["B"], "random")
    assert read_counting(store)[1].scores["random"] == worker.as_numbers(got)
    scores = store.visible.read_version()
    compute_scores(store)
    assert store.visible.read_version() == scores  # nothing changed, so nothing was ranked again


def test_an_unverified_entry_takes_no_rank_from_a_verified_one(store):
    for name, wrong in (("cheat", 0.0), ("good", 0.05), ("fair", 0.2), ("new", 0.1)):
        store.entries.accept(store.groups.join(name, CODE)[0].id, name, make_entry(wrong))
    compute_scores(store)
    assert read_ranks(store) == {"cheat": 1, "good": 2, "new": 3, "fair": 4}
    for state in ("flagged", "verified", "verified"):
        number, part = store.work.take_next_to_verify()
        store.work.put_verdict(number, part, state, "as it is")
    compute_scores(store)
    assert read_ranks(store) == {"cheat": None, "good": 1, "fair": 2, "new": 2}


def test_nothing_of_the_private_part_is_computed_before_the_deadline(store, group):
    store.entries.accept(group, "a", make_entry())
    store.entries.accept(group, "b", make_entry())
    compute_scores(store)
    assert store.work.find_unscored("private") == [] and store.work.take_next_to_verify() == (2, "public")
    store.work.put_verdict(2, "public", "verified", "")
    assert store.work.take_next_to_verify() is None
    assert private(store) == 0 and set(store.visible.read_history(group).entries[0].scores) == {"public"}
    pass_deadline(store)
    assert store.work.find_unscored("private") == [2]  # only the entry that counts
    compute_scores(store)
    assert private(store) == 2 and store.visible.read_standing().part == "private"
    past = store.visible.read_history(group).entries[0]
    assert set(past.scores) == {"public", "private"} and past.state == "waiting"


def private(store):
    """The number of private scores."""
    with store.database.reading() as connection:
        return connection.scalar(
            sql.select(sql.func.count()).select_from(tables.scores).where(tables.scores.c.part == "private")
        )


def test_once_private_results_are_out_the_deadline_does_not_move_to_a_later_time(store, group):
    store.entries.accept(group, "a", make_entry())
    pass_deadline(store)
    tomorrow = {"deadline": (rules.now() + timedelta(days=1)).isoformat()}
    store.settings.change(tomorrow, is_confirmed=True)  # no private result is out yet
    pass_deadline(store)
    compute_scores(store)
    for _ in range(2):
        with pytest.raises(RequestRefused, match="private results are out"):
            store.settings.change(tomorrow, is_confirmed=True)
        store.work.rescore()  # the results are deleted, but people have seen them


def test_after_the_deadline_the_map_of_the_verified_run_is_scored(store, group):
    made, again = make_entry(0.1), score.read_map(make_entry(0.12).random)
    store.entries.accept(group, "a", made)
    pass_deadline(store)
    compute_scores(store)
    number, part = store.work.take_next_to_verify()
    assert part == "private"
    maps = {split: to_npy(again) for split in scene.SPLITS}
    store.work.put_verdict(number, part, "verified", "as it is", {"seed": 1}, maps)
    compute_scores(store)
    scores = store.visible.read_history(group).entries[0].scores
    assert scores["private"]["random"]["overall"] == score.score(again, "random", "private").overall
    assert scores["public"]["random"]["overall"] == score.score(score.read_map(made.random), "random").overall
    assert store.entries.read_verdicts(number)["private"]["seed"] == 1 and read_counting(store)[0].state == "verified"


def test_a_verifier_that_died_continues_and_an_entry_that_kills_it_is_refused_in_the_end(store, group):
    store.entries.accept(group, "a", make_entry())
    other = store.groups.join("Two", CODE)[0].id
    store.entries.accept(other, "b", make_entry())
    compute_scores(store)
    tried = [store.work.take_next_to_verify()[0] for _ in range(6)]  # the verifier dies each time
    assert sorted(tried) == [1, 1, 1, 2, 2, 2] and tried[0] != tried[1]
    assert store.work.take_next_to_verify() is None
    assert {each.state for each in read_counting(store)} == {"refused"}
    store.work.rescore()
    compute_scores(store)
    assert store.work.take_next_to_verify() is not None


def test_an_entry_that_could_not_be_verified_waits_behind_the_others(store, group):
    store.entries.accept(group, "a", make_entry())
    store.entries.accept(store.groups.join("Two", CODE)[0].id, "b", make_entry())
    compute_scores(store)
    store.work.put_verdict(*store.work.take_next_to_verify(), "waiting", "there is no sandbox.")
    assert store.visible.read_history(group).entries[0].remark == "there is no sandbox."
    assert store.work.take_next_to_verify() == (2, "public")


def test_rescoring_computes_all_scores_again_and_keeps_verified_entries(store, group):
    store.entries.accept(group, "a", make_entry())
    compute_scores(store)
    store.work.put_verdict(*store.work.take_next_to_verify(), "verified", "")
    compute_scores(store)
    with store.database.writing() as connection:
        connection.execute(tables.scores.update().values(numbers='{"overall":2,"recall":{}}'))
    store.work.rescore()
    assert read_counting(store) == []
    compute_scores(store)
    (counted,) = read_counting(store)
    assert counted.scores["random"]["overall"] < 1 and counted.state == "verified" and read_ranks(store) == {"One": 1}


def test_a_withdrawn_entry_disappears_from_the_standing_and_the_progress(store, group):
    store.entries.accept(group, "a", make_entry())
    compute_scores(store)
    store.entries.withdraw(1, "copied")
    assert read_counting(store) == [] and not any(store.visible.read_wall().progress.values())


def test_only_one_process_at_a_time_does_a_workers_work(url, store):
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


def test_verdicts_become_plain_values():
    assert json.dumps(verifier.as_plain({"a": (np.float64(1.5), np.bool_(True)), "b": [np.int64(3)]})) == (
        '{"a": [1.5, true], "b": [3]}'
    )
