"""The pages of a group: joining, logging in, handing in and choosing by forms."""

import re

from starlette.testclient import TestClient

from autograder.testing.board import CODE, NOTEBOOK, BoardWithGroups, make_patchy_entry, pass_deadline
from autograder.testing.board_pages import NASTY, OWN_SITE, log_in, read_page


def test_a_group_joins_and_sees_its_token_once(tmp_path):
    board = BoardWithGroups(tmp_path)
    client = TestClient(board.app(), headers=OWN_SITE, follow_redirects=False)
    assert "not that of this board" in read_page(client.post("/join", data={"name": "New", "code": "wrong"}), 403).text
    answer = client.post("/join", data={"name": " The  new ones", "code": CODE})
    token = re.search(r'class="token">([\w-]{32})<', answer.text)[1]
    assert "Welcome, The new ones" in read_page(answer, 201).text
    assert board.store.groups.find_by_token(token).name == "The new ones"
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie and "samesite=strict" in cookie and answer.headers["cache-control"] == "no-store"
    assert token not in client.get("/group").text and "The new ones" in client.get("/group").text
    again = client.post("/join", data={"name": "the NEW ones", "code": CODE})
    assert "There is already a group" in read_page(again, 409).text
    assert client.post("/log-out").headers["location"] == "/"
    assert "Log in with your group’s token" in read_page(client.get("/group")).text


def test_only_a_token_of_the_board_logs_in(three, asking):
    for wrong in ("", "x", three.instructor[:-1], "'; DROP TABLE groups; --", "\x00"):
        assert "is not one of this board" in read_page(asking.post("/log-in", data={"token": wrong}), 403).text
    assert asking.post("/log-in", data={"token": f" {three.tokens['Ähren']} "}).headers["location"] == "/group"


def upload(client, path="/group/hand-in?key=a", seed=7, **changes):
    sent = make_patchy_entry(seed)
    files = {"random": sent.random, "disjoint": sent.disjoint, "notebook": NOTEBOOK.encode()} | changes
    return client.post(
        path, files={name: (name, content) for name, content in files.items()}, data={"ranks": "", "seconds": ""}
    )


def test_a_form_that_is_sent_twice_makes_one_entry(tmp_path):
    board = BoardWithGroups(tmp_path, ["Alone"], per_day=2)
    client = log_in(board, board.tokens["Alone"])
    form = read_page(client.get("/group")).all("form", action="/group/hand-in")[0]
    assert len(form["action"].partition("key=")[2]) > 20
    answers = [upload(client, form["action"]) for _ in range(2)]
    assert [answer.headers["location"] for answer in answers] == ["/group?done=handed-in&entry=1"] * 2
    assert "Entry 1 has been received and is on disk" in read_page(client.get(answers[0].headers["location"])).text
    assert "2 to come" not in client.get("/group").text and len(board.store.visible.read_history(1).entries) == 1
    wrong = read_page(upload(client, "/group/hand-in?key=b", random=b"no array"), 422)
    assert "The random" in wrong.text or "NumPy’s format" in wrong.text.replace("'", "’")
    assert "Idempotency-Key" in read_page(upload(client, "/group/hand-in"), 422).text
    assert len(board.store.visible.read_history(1).entries) == 1
    assert upload(client, "/group/hand-in?key=c", seed=8).status_code == 303
    assert "2 times today" in read_page(client.get("/group")).text
    assert "2 are allowed" in read_page(upload(client, "/group/hand-in?key=d", seed=9), 429).text


def test_a_group_chooses_only_its_own_entries(three):
    client = log_in(three, three.tokens["Ähren"])
    assert "no entry 1" in read_page(client.post("/group/choose", data={"entry": "1"}), 404).text
    for number in ("-1", "9" * 30):
        assert client.post("/group/choose", data={"entry": number}).status_code == 422
    nasty = log_in(three, three.tokens[NASTY[:40]])
    assert "Let it count, entry 2" in read_page(nasty.get("/group")).text
    assert nasty.post("/group/choose", data={"entry": "4"}).headers["location"] == "/group?done=chosen&entry=4"
    assert "as you chose" in read_page(nasty.get("/group?done=chosen&entry=4")).text


def test_after_the_deadline_no_form_hands_in_or_chooses_and_the_wall_becomes_final(tmp_path):
    board = BoardWithGroups(tmp_path, ["Alone"])
    board.store.entries.accept(1, "a", make_patchy_entry(1))
    board.store.entries.accept(1, "b", make_patchy_entry(2))
    pass_deadline(board.store)
    client = log_in(board, board.tokens["Alone"])
    assert "The deadline has passed" in read_page(client.get("/")).text
    page = read_page(client.get("/group"))
    assert not page.all("input", type="file") and not page.all("form", action="choose")
    assert "The deadline has passed" in read_page(upload(client, "/group/hand-in?key=new"), 403).text
    board.score()
    board.verify("verified")
    page = read_page(client.get("/"))
    assert "Final." in page.text and "Closed since" in page.text and "left blank" not in str(page.tags)
