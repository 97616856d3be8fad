"""The lab's lines against a board that answers."""

import json
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import numpy as np
import pytest

from autograder.competition.leaderboard import worker
from autograder.testing.board import CODE, NOTEBOOK, count_rows, pass_deadline
from autograder.testing.maps import make_noisy_map
from course.competition import client, scene
from course.errors import Problem
from course.student import work

LAB = "09-competition"


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A course's folder with a begun lab, and no wait between two requests."""
    path = tmp_path / "home" / "work" / LAB / f"{LAB}.ipynb"
    path.parent.mkdir(parents=True)
    path.write_text(NOTEBOOK)
    monkeypatch.setattr(work, "HOME", tmp_path / "home")
    monkeypatch.setattr(client, "PAUSES", (0, 0))
    monkeypatch.chdir(tmp_path)
    return tmp_path / "home"


@pytest.fixture
def maps():
    return {split: make_noisy_map(0.1) for split in scene.SPLITS}


def test_a_group_joins_submits_chooses_and_looks_from_the_lab(board, home, maps, capsys):
    client.join(board.url, "Ada", CODE)
    said = capsys.readouterr().out
    token = json.loads((home / "work" / "board.json").read_text())["token"]
    assert "You are the group Ada" in said and token not in said, "it would be saved with the notebook, and handed in"
    assert (home / "work" / "board.json").stat().st_mode & 0o777 == 0o600
    assert client.submit(maps, ranks=4, seconds=12.5) == 1 and "Entry 1 is on the board" in capsys.readouterr().out
    assert client.submit(maps | {"random": make_noisy_map(0.2)}, "9") == 2
    client.choose(1)
    worker.Scoring(board.store).step()
    capsys.readouterr()
    client.history()
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "2 entries; 3 more can be handed in today."
    assert lines[1].startswith("entry   2") and "counts" not in lines[1] and "random" in lines[1]
    assert "counts, as you chose" in lines[2] and lines[2].endswith("waits to be verified")
    assert board.store.file(1, "notebook") == NOTEBOOK.encode()
    assert board.store.history(1)[1].evidence == {"ranks": 4, "seconds": 12.5}


def test_the_same_submitted_twice_is_one_entry(board, home, maps):
    client.join(board.url, "Ada", CODE)
    assert client.submit(maps) == client.submit(maps) == 1 and count_rows(board.store)["entries"] == 1


def test_joining_again_is_no_second_group_and_loses_no_token(board, home, maps, capsys):
    for name in ("Ada", " ada"):
        client.join(board.url, name, CODE)
    assert "You are the group Ada already." in capsys.readouterr().out and count_rows(board.store)["groups"] == 1
    with pytest.raises(Problem, match=r"in the group Ada already: .* delete .*board\.json first"):
        client.join(board.url, "Bob", CODE)
    client.remember({"url": "http://127.0.0.1:9", "token": "good"})
    with pytest.raises(Problem, match="no answer from the board"):
        client.join("http://127.0.0.1:9", "Bob", CODE)
    assert client.remembered()["token"] == "good"
    token = board.store.renew(1)
    client.join(board.url, token=token)
    board.store.renew(1)
    client.join(board.url, "Bob", CODE)  # what was known is worth nothing now
    client.place().write_text("{")
    client.join(board.url, "Cy", CODE)
    assert client.submit(maps) == 1 and board.store.history(3)


def test_another_member_uses_the_token_of_the_group(board, home, maps, capsys):
    token = board.join("Ada")["Authorization"].removeprefix("Bearer ")
    client.join(board.url + "/", token=token)
    assert "You hand in for the group Ada now." in capsys.readouterr().out
    assert client.submit(maps) == 1 and board.store.history(1)
    with pytest.raises(Problem, match="not one of this board"):
        client.join(board.url, token="wrong")


class LosesAnswers(BaseHTTPRequestHandler):
    """Passes requests on to the board, and loses the first answers."""

    target, lost = None, 0

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        got = self.target.client.post(self.path, content=body, headers=dict(self.headers))
        if LosesAnswers.lost < 2:
            LosesAnswers.lost += 1
            self.close_connection = True
            return
        self.send_response(got.status_code)
        self.end_headers()
        self.wfile.write(got.content)

    def log_message(self, *args):
        pass


def test_an_entry_whose_answer_was_lost_is_sent_again_and_is_there_once(board, home, maps):
    client.join(board.url, "Ada", CODE)
    LosesAnswers.target, LosesAnswers.lost = board, 0
    with HTTPServer(("127.0.0.1", 0), LosesAnswers) as between:
        threading.Thread(target=between.serve_forever, daemon=True).start()
        known = client.remembered()
        client.remember(known | {"url": f"http://127.0.0.1:{between.server_port}"})
        assert client.submit(maps) == 1
        between.shutdown()
    assert LosesAnswers.lost == 2 and count_rows(board.store)["entries"] == 1


def test_what_the_board_refuses_is_said_in_its_own_words(board, home, maps):
    with pytest.raises(Problem, match="the code is not that of this board"):
        client.join(board.url, "Ada", "wrong")
    client.join(board.url, "Ada", CODE)
    with pytest.raises(Problem, match="has no entry 7"):
        client.choose(7)
    pass_deadline(board.store)
    with pytest.raises(Problem, match="the deadline has passed"):
        client.submit(maps)


def test_what_cannot_be_handed_in_is_said_before_anything_is_sent(board, home, maps):
    client.join(board.url, "Ada", CODE)
    for wrong, words in (
        ({"random": maps["random"]}, "hand in"), (maps["random"], "hand in"), (None, "hand in"),
        (maps | {"disjoint": maps["random"].astype(float)}, "the map of the disjoint split: .* uint8"),
        (maps | {"random": maps["random"][:9]}, "the map of the random split: .* shape"),
        (maps | {"random": np.array([Problem()])}, "shape"),
    ):  # fmt: skip
        with pytest.raises(Problem, match=words):
            client.submit(wrong)
    with pytest.raises(Problem, match="there is no lab 77"):
        client.submit(maps, 77)
    with pytest.raises(Problem, match="ranks and seconds are two numbers"):
        client.submit(maps, ranks=0, seconds=1)
    for number in ("1", 0, True, 1.0):
        with pytest.raises(Problem, match="named by its number"):
            client.choose(number)
    (home / "work" / LAB / f"{LAB}.ipynb").write_bytes(NOTEBOOK.replace("def", "#" * client.NOTEBOOK).encode())
    with pytest.raises(Problem, match="clear its outputs"):
        client.submit(maps)
    assert count_rows(board.store)["entries"] == 0


def test_without_a_board_it_is_said_what_to_do(home, maps):
    for line in (client.history, lambda: client.submit(maps), lambda: client.choose(1)):
        with pytest.raises(Problem, match="you have not joined a board yet"):
            line()
    with pytest.raises(Problem, match="is no address of a board"):
        client.join("board.example", "Ada", CODE)
    with pytest.raises(Problem, match="say your name and the code"):
        client.join("http://127.0.0.1:1", "Ada")
    with pytest.raises(Problem, match=r"no answer from the board at .*Run the same line again later"):
        client.join("http://127.0.0.1:1", "Ada", CODE)
