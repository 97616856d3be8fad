"""A wrong deadline can be corrected: moving it needs a confirmation, and private results wait for ten minutes."""

import dataclasses
from datetime import timedelta

import pytest
from sqlalchemy import update

from autograder.competition.leaderboard import rules
from autograder.competition.leaderboard.store import Store, tables
from autograder.testing.board import BoardWithGroups, compute_scores, make_entry, make_settings
from autograder.testing.board_command import run_board_command
from autograder.testing.board_pages import log_in, read_page

MINUTE = timedelta(minutes=1)
MOMENTS = ("deadline", "deadline_set")


def in_minutes(number):
    """The time so many minutes from now, as a setting."""
    return (rules.now() + number * MINUTE).isoformat()


def pretend_it_was_set(store, minutes):
    """Let the deadline and the moment at which it was set be so many minutes earlier."""
    settings = store.settings.read()
    earlier = {name: rules.format_time(getattr(settings, name) - minutes * MINUTE) for name in MOMENTS}
    with store.database.writing() as connection:
        connection.execute(update(tables.board).values(earlier))


@pytest.mark.parametrize(
    ("set_before", "hold"),
    [(61 * MINUTE, 0 * MINUTE), (60 * MINUTE, 0 * MINUTE), (59 * MINUTE, 10 * MINUTE), (-90 * MINUTE, 100 * MINUTE)],
)
def test_the_private_part_opens_ten_minutes_after_a_deadline_that_came_as_a_surprise(set_before, hold):
    deadline = rules.now()
    settings = make_settings(deadline=deadline)
    settings = dataclasses.replace(settings, deadline_set=deadline - set_before)
    assert settings.private_from == deadline + hold


def test_a_deadline_that_moves_needs_a_confirmation_and_one_in_the_past_opens_nothing_for_ten_minutes(store, group):
    store.entries.accept(group, "a", make_entry())
    compute_scores(store)
    before = store.settings.read()
    with pytest.raises(rules.ConfirmationNeeded, match="has passed: the board will accept no more entries"):
        store.settings.change({"deadline": "2025-12-18T23:59", "per_day": 9})
    assert store.settings.read() == before
    store.settings.change({"deadline": "2025-12-18T23:59"}, is_confirmed=True)
    with pytest.raises(rules.RequestRefused, match="the deadline has passed"):
        store.entries.accept(group, "b", make_entry())
    compute_scores(store)
    assert store.work.find_unscored("private") == [] and store.visible.read_standing().part == "public"
    assert not store.visible.read_standing().is_final
    store.settings.change({"deadline": in_minutes(3000)}, is_confirmed=True)  # corrected in time
    store.entries.accept(group, "b", make_entry())
    store.settings.change({"deadline": in_minutes(-1)}, is_confirmed=True)
    pretend_it_was_set(store, 11)
    assert store.visible.read_standing().part == "private" and store.work.find_unscored("private") == [2]
    compute_scores(store)
    with pytest.raises(rules.RequestRefused, match="can no longer be moved"):
        store.settings.change({"deadline": in_minutes(3000)}, is_confirmed=True)


def test_the_page_asks_before_it_moves_the_deadline_and_shows_that_private_results_wait(tmp_path):
    board = BoardWithGroups(tmp_path, ["Alone"])
    board.store.entries.accept(1, "k", make_entry())
    board.score()
    client, before = log_in(board, board.instructor), board.store.settings.read()
    form = {a["name"]: a.get("value", "") for a in read_page(client.get("/instructor")).all("input") if "name" in a}
    form = {name: form[name] for name in ("name", "code", "deadline", "time_zone", "per_day")}
    client.post("/instructor/settings", data=form | {"per_day": "7"})  # without a question: the deadline is the same
    after = board.store.settings.read()
    assert after.per_day == 7 and after.deadline == before.deadline
    asking = read_page(client.post("/instructor/settings", data=form | {"deadline": "2025-12-18T23:59"}), 409)
    assert "has passed: the board will accept no more entries" in asking.text
    assert "Yes, move the deadline to 2025-12-18 23:59" in asking.text
    assert board.store.settings.read() == after
    hidden = {a["name"]: a["value"] for a in asking.all("input", type="hidden") if a["name"] in (*form, "confirm")}
    assert hidden["confirm"] == "yes" and hidden["deadline"] == "2025-12-18T23:59"
    assert client.post("/instructor/settings", data=hidden).status_code == 303
    assert "private results from" in read_page(client.get("/instructor")).text
    assert "The private results follow at" in read_page(log_in(board, board.tokens["Alone"]).get("/group")).text
    wall = read_page(client.get("/")).text
    assert "Closed since" in wall and "private results at" in wall


def test_the_api_and_the_command_line_say_what_will_happen_and_change_nothing_without_a_confirmation(
    small, board, tmp_path
):
    def put(**changes):
        return board.client.put("/api/settings", json=changes, headers=board.instructor)

    before = small.settings.read()
    asked = put(deadline="2030-05-01T12:00")
    assert asked.status_code == 409 and 'the same with "confirm": true' in asked.json()["detail"]
    assert "the deadline moves from" in asked.json()["detail"] and small.settings.read() == before
    status, output = run_board_command(tmp_path, "--set", "deadline=2025-05-01T12:00")
    assert status == 1 and "Nothing was changed. To confirm this, repeat the command with --confirm." in output
    assert "At 20" in output and output.count("\n") == 1 and small.settings.read() == before
    done = put(deadline="2030-05-01T12:00", confirm=True)
    assert done.status_code == 200 and done.json()["private_from"] == "2030-05-01T12:00:00.000000Z"
    status, output = run_board_command(tmp_path, "--set", "deadline=2030-05-02T12:00", "--confirm")
    assert (status, output) == (0, "deadline is now 2030-05-02 12:00 UTC.\n")


def test_a_board_toml_whose_deadline_has_passed_makes_no_board(tmp_path):
    (tmp_path / "board.toml").write_text('code = "abcd"\ndeadline = 2025-12-18T23:59:00\n')
    status, output = run_board_command(tmp_path, "--port", "0")
    assert status == 1 and "has passed: correct its year" in output and output.count("\n") == 1
    store = Store(f"sqlite:///{tmp_path / 'board.sqlite'}")
    assert not store.settings.has_board()
    store.close()
