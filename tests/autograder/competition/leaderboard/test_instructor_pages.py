"""The instructor's page: settings, withdrawals, new tokens by forms."""

import re

from autograder.competition.leaderboard import rules
from autograder.testing.board import BoardWithGroups, make_patchy_entry
from autograder.testing.board_pages import NASTY, log_in, read_page


def test_the_instructor_sets_withdraws_and_freezes_by_forms(tmp_path):
    board = BoardWithGroups(tmp_path, ["Alone"])
    board.store.entries.accept(1, "k", make_patchy_entry(1))
    board.score()
    client = log_in(board, board.instructor)
    values = {
        "name": "Autumn",
        "code": "walnut-7",
        "deadline": "2030-05-01T12:00",
        "per_day": "3",
        "time_zone": "Europe/Berlin",
    }
    confirmed = values | {"confirm": "yes"}
    assert client.post("/instructor/settings", data=confirmed).headers["location"] == "/instructor?done=settings"
    assert (
        rules.format_time(board.store.settings.read().deadline).startswith("2030-05-01T10:00")
        and board.store.settings.read().per_day == 3
    )
    assert {
        a["name"]: a["value"] for a in read_page(client.get("/instructor")).all("input") if a.get("value")
    }.items() >= values.items()
    for field, wrong, words in (
        ("per_day", "-1", "whole number"),
        ("per_day", "lots", "whole number"),
        ("deadline", "soon", "a date and a time"),
        ("time_zone", "../etc/passwd", "time zone is not known"),
        ("name", "\u202e", "invisible characters"),
        ("code", "a b", "4 to 40"),
    ):
        assert words in read_page(client.post("/instructor/settings", data=values | {field: wrong}), 422).text
    assert (
        "The reason has 0 characters"
        in read_page(client.post("/instructor/withdraw", data={"entry": 1, "group": 1}), 422).text
    )
    done = client.post("/instructor/withdraw", data={"entry": 1, "group": 1, "reason": f"a copy {NASTY}"})
    assert f"a copy {NASTY}" in read_page(client.get(done.headers["location"])).text
    assert f"Withdrawn: a copy {NASTY}" in read_page(log_in(board, board.tokens["Alone"]).get("/group")).text
    assert "No entry yet" in read_page(client.get("/")).text
    client.post("/instructor/freeze", data={"frozen": "yes"})
    assert (
        "The board is frozen: no entries" in log_in(board, board.tokens["Alone"]).get("/group").text
        and "Frozen" in client.get("/").text
    )
    client.post("/instructor/freeze", data={"frozen": ""})
    assert not board.store.settings.read().frozen
    assert client.post("/instructor/rescore").headers["location"] == "/instructor?done=rescore"
    assert "walnut-7" not in read_page(client.get("/instructor")).text.partition("The log")[2]


def test_a_group_gets_a_new_token_from_the_instructor_and_the_old_one_becomes_invalid(tmp_path):
    board = BoardWithGroups(tmp_path, ["Robbed", "Other"])
    old, client = board.tokens["Robbed"], log_in(board, board.instructor)
    read_page(log_in(board, board.tokens["Other"]).post("/instructor/token", data={"group": 1}), 403)
    assert board.store.groups.find_by_token(old).name == "Robbed"
    assert read_page(client.get("/instructor?group=1")).all("form", action="/instructor/token")
    answer = client.post("/instructor/token", data={"group": 1})
    new = re.search(r'class="token">([\w-]{32})<', answer.text)[1]
    assert "The new token of Robbed, displayed this once" in read_page(answer).text
    assert board.store.groups.find_by_token(new).name == "Robbed" and board.store.groups.find_by_token(old) is None
    assert new not in client.get("/instructor?group=1").text
    assert "Log in with your group’s token" in read_page(log_in(board, old).get("/group")).text
    assert "There is no group 9" in read_page(client.post("/instructor/token", data={"group": 9}), 404).text
