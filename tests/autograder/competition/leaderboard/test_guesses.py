"""Whoever guesses codes and tokens is slowed down, and nobody else."""

from autograder.competition.leaderboard.web.guesses import BURST
from autograder.testing.board import CODE
from autograder.testing.sockets import make_client


def join(client, name, code):
    return client.post("/api/groups", json={"name": name, "code": code})


def test_wrong_codes_from_one_address_are_refused_after_a_while_and_right_tokens_are_not(board):
    header = board.join("Ada")
    for _ in range(BURST):
        assert join(board.client, "Eve", "wrong").status_code == 403
    for code in ("wrong", CODE):
        answer = join(board.client, "Eve", code)
        assert answer.status_code == 429 and "too many wrong codes or tokens" in answer.json()["detail"]
    assert "Too many wrong codes" in board.client.post(
        "/join", data={"name": "Eve", "code": CODE}, headers={"Origin": board.url, "Accept": "text/html"}
    ).text  # fmt: skip
    assert board.client.get("/api/entries", headers=header).status_code == 200
    assert board.client.get("/").status_code == 200
    with make_client(board.url, "127.0.0.2") as elsewhere:
        assert join(elsewhere, "Bob", CODE).status_code == 201


def test_wrong_tokens_in_headers_forms_and_cookies_count_together(board):
    origin, page = {"Origin": board.url}, {"Accept": "text/html"}
    statuses = []
    for n in range(BURST // 3 + 1):
        statuses.append(board.client.get("/api/entries", headers={"Authorization": f"Bearer {n}"}).status_code)
        statuses.append(board.client.post("/log-in", data={"token": str(n)}, headers=origin).status_code)
        statuses.append(board.client.get("/group", headers={"Cookie": f"board={n}"} | page).status_code)
    assert set(statuses[:BURST]) == {401, 403, 200} and set(statuses[BURST:]) == {429}
    logged_in = board.client.post("/log-in", data={"token": board.store.token}, headers=origin)
    assert logged_in.status_code == 303  # a right one


def test_names_that_are_refused_and_groups_that_join_are_no_wrong_codes(board):
    for n in range(BURST + 5):
        assert join(board.client, "", CODE).status_code == 422
        assert join(board.client, f"Group {n}", CODE).status_code == 201
        assert join(board.client, f"Group {n}", CODE).status_code == 409
