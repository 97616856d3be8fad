"""The lab's line to the leaderboard, against real boards, and against servers that misbehave."""

import contextlib
import json
import ssl
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import numpy as np
import pytest

from autograder.competition.leaderboard import rules, worker
from autograder.testing.board import CODE, NOTEBOOK, count_rows, pass_deadline
from autograder.testing.maps import make_noisy_map
from course.competition import client, scene
from course.errors import Problem

LAB = "09-competition"


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A course's folder with a begun lab, and no pause between two requests."""
    path = tmp_path / "home" / "work" / LAB / f"{LAB}.ipynb"
    path.parent.mkdir(parents=True)
    path.write_text(NOTEBOOK)
    monkeypatch.setattr(client, "HOME", tmp_path / "home")
    monkeypatch.setattr(client, "PAUSES", (0, 0))
    monkeypatch.chdir(tmp_path)
    return tmp_path / "home"


@pytest.fixture
def maps():
    return {split: make_noisy_map(0.1) for split in scene.SPLITS}


def test_a_group_joins_submits_chooses_and_looks_from_the_lab(board, home, maps, capsys):
    client.join(board.url, "Ada", CODE)
    output = capsys.readouterr().out
    token = json.loads((home / "work" / "board.json").read_text())["token"]
    assert "You are the group Ada" in output and token not in output, "it would be saved with the notebook"
    assert (home / "work" / "board.json").stat().st_mode & 0o777 == 0o600
    assert client.submit(maps, ranks=4, seconds=12.5) == 1 and "Entry 1 is on the board" in capsys.readouterr().out
    assert client.submit(maps | {"random": make_noisy_map(0.2)}, "9") == 2
    client.choose(1)
    worker.Scoring(board.store).step()
    capsys.readouterr()
    client.history()
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "2 entries; you can hand in 3 more today."
    assert lines[1].startswith("entry   2") and "counts" not in lines[1] and "random" in lines[1]
    assert "counts, as you chose" in lines[2] and lines[2].endswith("waiting for verification")
    assert board.store.entries.read_file(1, "notebook") == NOTEBOOK.encode()
    assert board.store.visible.read_history(1).entries[1].evidence == {"ranks": 4, "seconds": 12.5}


def test_the_same_submitted_twice_is_one_entry(board, home, maps):
    client.join(board.url, "Ada", CODE)
    assert client.submit(maps) == client.submit(maps) == 1 and count_rows(board.store)["entries"] == 1


def test_joining_again_makes_no_second_group_and_loses_no_token(board, home, maps, capsys):
    for name in ("Ada", " ada"):
        client.join(board.url, name, CODE)
    assert "You are already the group Ada." in capsys.readouterr().out and count_rows(board.store)["groups"] == 1
    with pytest.raises(Problem, match=r"already in the group Ada\. .* delete .*board\.json first"):
        client.join(board.url, "Bob", CODE)
    client.write_membership(client.Membership("http://127.0.0.1:9", "good"))
    with pytest.raises(Problem, match="no answer from the board"):
        client.join("http://127.0.0.1:9", "Bob", CODE)
    assert client.read_membership().token == "good"
    token = board.store.groups.renew_token(1)
    client.join(board.url, token=token)
    board.store.groups.renew_token(1)
    client.join(board.url, "Bob", CODE)  # the known token is worth nothing now
    client.membership_path().write_text("{")
    client.join(board.url, "Cy", CODE)
    assert client.submit(maps) == 1 and board.store.visible.read_history(3).entries


def test_another_member_uses_the_token_of_the_group(board, home, maps, capsys):
    token = board.join("Ada")["Authorization"].removeprefix("Bearer ")
    client.join(board.url + "/", token=token)
    assert "You now hand in for the group Ada." in capsys.readouterr().out
    assert client.submit(maps) == 1 and board.store.visible.read_history(1).entries
    with pytest.raises(Problem, match="not one of this board"):
        client.join(board.url, token="wrong")


class LosesAnswers(BaseHTTPRequestHandler):
    """Passes requests on to the board, and loses the first two answers."""

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


def test_an_entry_whose_answer_was_lost_is_sent_again_and_stored_once(board, home, maps):
    client.join(board.url, "Ada", CODE)
    LosesAnswers.target, LosesAnswers.lost = board, 0
    with HTTPServer(("127.0.0.1", 0), LosesAnswers) as between:
        threading.Thread(target=between.serve_forever, daemon=True).start()
        token = client.read_membership().token
        client.write_membership(client.Membership(f"http://127.0.0.1:{between.server_port}", token))
        assert client.submit(maps) == 1
        between.shutdown()
    assert LosesAnswers.lost == 2 and count_rows(board.store)["entries"] == 1


def test_a_refusal_is_shown_in_the_words_of_the_board(board, home, maps):
    with pytest.raises(Problem, match="the code is not that of this board"):
        client.join(board.url, "Ada", "wrong")
    client.join(board.url, "Ada", CODE)
    with pytest.raises(Problem, match="has no entry 7"):
        client.choose(7)
    pass_deadline(board.store)
    with pytest.raises(Problem, match="the deadline has passed"):
        client.submit(maps)


def test_an_entry_that_cannot_be_handed_in_is_refused_and_not_stored(board, home, maps):
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
    with pytest.raises(Problem, match="ranks and seconds must be two numbers"):
        client.submit(maps, ranks=0, seconds=1)
    for number in ("1", 0, True, 1.0):
        with pytest.raises(Problem, match="by its number"):
            client.choose(number)
    (home / "work" / LAB / f"{LAB}.ipynb").write_bytes(NOTEBOOK.replace("def", "#" * rules.MAX_NOTEBOOK).encode())
    with pytest.raises(Problem, match=f"{rules.MAX_NOTEBOOK:,} are allowed"):
        client.submit(maps)
    assert count_rows(board.store)["entries"] == 0


def test_without_a_board_the_message_says_what_to_do(home, maps):
    for line in (client.history, lambda: client.submit(maps), lambda: client.choose(1)):
        with pytest.raises(Problem, match="you have not joined a board yet"):
            line()
    with pytest.raises(Problem, match="is not the address of a board"):
        client.join("board.example", "Ada", CODE)
    with pytest.raises(Problem, match="give your name and the code"):
        client.join("http://127.0.0.1:1", "Ada")
    with pytest.raises(Problem, match=r"no answer from the board at .*Run the same line again later"):
        client.join("http://127.0.0.1:1", "Ada", CODE)


def test_a_token_that_cannot_be_kept_is_shown_rather_than_lost(board, home, monkeypatch):
    def fill_disk(path, content, mode):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(client, "write_whole", fill_disk)
    with pytest.raises(Problem, match=r"cannot be written .*, so write down the token: [\w-]{32}"):
        client.join(board.url, "Ada", CODE)


class Answers(BaseHTTPRequestHandler):
    """Answers each request with the next of `answers`: (status, headers, body). Keeps the requested addresses."""

    answers, addresses = [], []

    def do_GET(self):
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        Answers.addresses.append(self.path)
        status, headers, body = Answers.answers.pop(0)
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_POST = do_GET

    def log_message(self, *args):
        pass


@contextlib.contextmanager
def serve(*answers, context=None):
    """A server that gives these answers; yields its port. context: an ssl.SSLContext for https."""
    Answers.answers, Answers.addresses = list(answers), []
    with HTTPServer(("127.0.0.1", 0), Answers) as server:
        if context:
            server.socket = context.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server.server_port
        server.shutdown()
        thread.join()


HISTORY = json.dumps({"group": "Ada", "entries": [], "left_today": 5}).encode()


@pytest.mark.parametrize(
    ("status", "headers", "body"),
    [
        (200, {}, b"<title>Welcome</title>"),
        (200, {}, b"[1, 2]"),
        (404, {}, b"<h1>Not Found</h1>"),
        (404, {}, b'{"message": "not found"}'),
        (200, {"Content-Encoding": "gzip"}, b"this is not compressed"),
    ],
)
def test_a_server_that_is_not_a_board_is_named_in_one_sentence(home, status, headers, body):
    answers = [(status, headers, body)] * 3
    with serve(*answers) as port, pytest.raises(Problem, match="board at http://127") as problem:
        client.join(f"http://127.0.0.1:{port}", token="t")
    assert len(str(problem.value).splitlines()) == 1 and "check that the address is right" in str(problem.value)
    assert not isinstance(problem.value, client.BoardRefusal) and not client.membership_path().exists()


def test_a_redirection_names_the_other_address(home):
    answer = (308, {"Location": "https://board.example/api/entries"}, b"")
    with serve(answer) as port, pytest.raises(Problem, match=r"redirects to https://board\.example/"):
        client.join(f"http://127.0.0.1:{port}", token="t")


def test_a_gateway_that_fails_is_asked_again(home, capsys):
    with serve((502, {}, b"<h1>Bad Gateway</h1>"), (503, {}, b'{"detail": "restarting."}'), (200, {}, HISTORY)) as port:
        client.join(f"http://127.0.0.1:{port}", token="t")
    assert "You now hand in for the group Ada." in capsys.readouterr().out
    with serve(*[(502, {}, b"")] * 3) as port, pytest.raises(Problem, match=r"status 502\. Run the same line again"):
        client.join(f"http://127.0.0.1:{port}", token="t")


def test_a_board_on_this_machine_is_reached_directly_whatever_proxy_the_environment_names(board, home, monkeypatch):
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.setenv("all_proxy", "socks4://nonsense")
    client.join(board.url, "Ada", CODE)
    assert client.read_membership().url == board.url


def test_another_board_is_reached_through_the_proxy_of_the_environment(home, monkeypatch):
    with serve((200, {}, HISTORY)) as port:
        monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{port}")
        client.join("http://board.example", token="t")
    assert Answers.addresses == ["http://board.example/api/entries"]
    monkeypatch.setenv("http_proxy", "nonsense://proxy")
    with pytest.raises(Problem, match="the proxy that HTTP_PROXY"):
        client.join("http://board.example", token="t")


def test_a_certificate_that_is_not_trusted_is_reported_at_once(home, tmp_path, monkeypatch):
    monkeypatch.setattr(client, "PAUSES", (60,))
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
         "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1",
         "-keyout", tmp_path / "key.pem", "-out", tmp_path / "certificate.pem"], check=True, capture_output=True,
    )  # fmt: skip
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "certificate.pem", tmp_path / "key.pem")
    with serve((200, {}, HISTORY), context=context) as port:
        with pytest.raises(Problem, match=r"certificate of https://localhost.* is not trusted"):
            client.join(f"https://localhost:{port}", token="t")
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "certificate.pem"))
        client.join(f"https://localhost:{port}", token="t")
    assert client.read_membership().token == "t"


@pytest.mark.parametrize("url", ["", "board.example", "http://", "ftp://board.example", "http://[::", "http://a b:x/"])
def test_an_address_that_is_not_one_is_refused(home, url):
    with pytest.raises(Problem, match="is not the address of a board"):
        client.join(url, token="t")


def test_a_token_with_spaces_around_it_or_letters_of_another_alphabet_is_sent_to_the_board(board, home):
    token = board.join("Ada")["Authorization"].removeprefix("Bearer ")
    client.join(board.url, token=f" {token}\n")
    with pytest.raises(client.BoardRefusal, match="not one of this board"):
        client.join(board.url, token="жетон")
