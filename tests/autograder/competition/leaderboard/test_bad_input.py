"""Bad requests: each is refused in one clear sentence, and nothing is stored."""

import io
import json
import os
import pickle
import socket
import time
import zipfile
from pathlib import Path

import numpy as np
import pytest

from autograder.competition.leaderboard.web import guesses
from autograder.testing.board import (
    CODE,
    NOTEBOOK,
    count_rows,
    make_entry,
    make_files,
    open_board,
    pass_deadline,
    serve_board,
)
from autograder.testing.maps import make_noisy_map, to_npy
from course.competition import scene

GOOD = make_noisy_map(seed=1)
SQL = ["'; DROP TABLE entries; --", '" OR 1=1 --', "1) UNION SELECT token FROM groups --", "%' OR '%'='", "\\'; --"]


class Bomb:
    def __reduce__(self):
        return os.mkdir, ("bombed",)


def header(shape, dtype="|u1"):
    """A file whose header promises pixels that are not there."""
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(file, {"descr": dtype, "fortran_order": False, "shape": shape})
    return file.getvalue()


def zipped(**content):
    file = io.BytesIO()
    np.savez_compressed(file, **content)
    return file.getvalue()


def bomb():
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("map.npy", b"\0" * 2**26)
    return file.getvalue()


def objects():
    made = np.empty((1,), dtype=object)
    made[0] = Bomb()
    return to_npy(made)


MAPS = {
    "too small": (to_npy(GOOD[:9]), "has the shape"),
    "transposed in three dimensions": (to_npy(GOOD[None]), "has the shape"),
    "one number": (to_npy(np.uint8(3)), "has the shape"),
    "int64": (to_npy(GOOD.astype(int)), "uint8"),
    "bool": (to_npy(GOOD > 0), "uint8"),
    "float": (to_npy(GOOD.astype(float)), "uint8"),
    "NaN": (to_npy(np.full(GOOD.shape, np.nan)), "uint8"),
    "out of range": (to_npy(np.full(GOOD.shape, 17, np.uint8)), "17"),
    "objects that are pickled": (objects(), "shape"),
    "a pickle": (pickle.dumps(Bomb()), "NumPy's format"),
    "a pickle of a map": (pickle.dumps(GOOD), "NumPy's format"),
    "an archive": (zipped(random=GOOD), "NumPy's format"),
    "a bomb in an archive": (bomb(), "NumPy's format"),
    "much that is not there": (header((10**12, 10**6)), "has the shape"),
    "a map of nothing": (header(scene.SHAPE), "cut off"),
    "cut off": (to_npy(GOOD)[:-100], "cut off"),
    "something added": (to_npy(GOOD) + b"x", "added"),
    "nothing": (b"", "NumPy's format"),
    "text": (b"random", "NumPy's format"),
    "a heading that computes": (b"\x93NUMPY\x01\x00\x10\x00__import__('os')", "NumPy's format"),
    "very long": (to_npy(GOOD) * 10, "bytes"),
}


@pytest.fixture(scope="module")
def board(tmp_path_factory):
    """One board for all tests, since nothing is stored."""
    folder = tmp_path_factory.mktemp("board")
    with open_board(folder) as store, serve_board(store) as board:
        yield board


@pytest.fixture(scope="module")
def group(board):
    return board.join("Ada")


@pytest.fixture(autouse=True)
def patient(monkeypatch):
    """Wrong tokens are not slowed down: one address sends all of them."""
    monkeypatch.setattr(guesses, "BURST", 10_000)


@pytest.fixture(autouse=True)
def unchanged(board, group):
    """The board's tables are the same at the end."""
    before = count_rows(board.store)
    yield
    assert count_rows(board.store) == before and not Path("bombed").exists()


@pytest.fixture
def fresh(tmp_path):
    """(a new board, a group) for a test that changes them."""
    with open_board(tmp_path) as store, serve_board(store) as board:
        yield board, board.join("Ada")


def assert_refused(got, status, words):
    """Assert that the answer is one sentence with these words."""
    answer = got.json()
    assert got.status_code == status and list(answer) == ["detail"] and words in answer["detail"], got.text
    assert answer["detail"].endswith(".") and "\n" not in answer["detail"] and "Traceback" not in answer["detail"]


@pytest.mark.parametrize("what", MAPS)
@pytest.mark.parametrize("split", scene.SPLITS)
def test_a_file_that_is_not_a_label_map(board, group, what, split):
    content, words = MAPS[what]
    assert_refused(board.enter(group, **make_files() | {split: content}), 422, words)
    assert f"the map of the {split} split: " in board.enter(group, **make_files() | {split: content}).json()["detail"]


@pytest.mark.parametrize(
    ("notebook", "status"),
    [
        (b"", 422), (b"{}", 422), (b"\xff\xfe", 422), (b"[" * 100_000, 422), (pickle.dumps(Bomb()), 422),
        (NOTEBOOK.replace("def", "x" * (5 * 2**20)).encode(), 413),
        (b'{"cells": [], "nbformat": 4}', 422), (b"<script>alert(1)</script>", 422),
    ],
)  # fmt: skip
def test_an_invalid_or_too_large_notebook(board, group, notebook, status):
    assert_refused(board.enter(group, **make_files(notebook=notebook)), status, "the notebook")


NUMBERS = ["", "x", "0", "-1", "nan", "inf", "1e400", "9" * 900, "1 2", *SQL]


@pytest.mark.parametrize("wrong", NUMBERS)
def test_ranks_or_seconds_that_are_not_numbers(board, group, wrong):
    assert_refused(board.enter(group, ranks=wrong, seconds=1), 422, "ranks and seconds must be two numbers")
    assert_refused(board.enter(group, ranks=4, seconds=wrong), 422, "ranks and seconds must be two numbers")


def test_a_file_instead_of_a_number(board, group):
    assert_refused(
        board.enter(group, **make_files(ranks=b"\xff", seconds=b"1")), 422, "ranks and seconds must be two numbers"
    )


def raw(board, head, chunks, limit=60):
    """(the server's answer to these bytes, number of bytes sent) over a plain socket."""
    host, _, port = board.url.removeprefix("http://").partition(":")
    sent = 0
    with socket.create_connection((host, int(port)), timeout=limit) as connection:
        connection.sendall(head.encode())
        connection.settimeout(limit)
        try:
            for chunk in chunks:
                connection.sendall(chunk)
                sent += len(chunk)
        except OSError:
            pass  # the server closed the connection, as it should
        got = b""
        try:
            while part := connection.recv(65536):
                got += part
        except OSError:
            pass
    return got.decode(), sent


@pytest.mark.parametrize("path", ["/api/entries", "/api/groups", "/api/settings"])
def test_a_gigabyte_is_not_read(board, group, path):
    """With Content-Length, and in chunks without it: the answer comes early, and the connection is closed."""
    method = "PUT" if path == "/api/settings" else "POST"
    head = f"{method} {path} HTTP/1.1\r\nHost: x\r\nAuthorization: {group['Authorization']}\r\nIdempotency-Key: k\r\n"
    head += "Content-Type: multipart/form-data; boundary=b\r\n" if path == "/api/entries" else ""
    chunk = b"x" * 2**20
    started = b'--b\r\nContent-Disposition: form-data; name="notebook"; filename="n"\r\n\r\n'
    got, sent = raw(board, f"{head}Content-Length: {2**30}\r\n\r\n", (started, *[chunk] * 1023))
    assert sent < 2**28 and ("413" in got[:20] or not got)
    assert_413(board, f"{head}Content-Length: {2**30}\r\n\r\n")
    framed = (b"%x\r\n%s\r\n" % (len(each), each) for each in (started, *[chunk] * 1023))
    got, sent = raw(board, f"{head}Transfer-Encoding: chunked\r\n\r\n", framed)
    assert sent < 2**28 and ("413" in got[:20] or not got)
    assert board.client.get("/api/standing").status_code == 200


def test_a_client_that_sends_everything_first_still_gets_the_413(board, group):
    """Not all clients read while they send, and closing the connection early would lose the answer."""
    head = f"POST /api/entries HTTP/1.1\r\nHost: x\r\nAuthorization: {group['Authorization']}\r\nIdempotency-Key: k\r\n"
    chunk = b"x" * 2**20
    got, sent = raw(board, f"{head}Content-Length: {20 * 2**20}\r\n\r\n", [chunk] * 20)
    assert sent == 20 * 2**20 and got.startswith("HTTP/1.1 413") and "clear the notebook's outputs" in got
    head += "Content-Type: multipart/form-data; boundary=b\r\n"
    started = b'--b\r\nContent-Disposition: form-data; name="notebook"; filename="n"\r\n\r\n'
    framed = [b"%x\r\n%s\r\n" % (len(each), each) for each in (started, *[chunk] * 20)]
    got, sent = raw(board, f"{head}Transfer-Encoding: chunked\r\n\r\n", [*framed, b"0\r\n\r\n"])
    assert sent == sum(map(len, framed)) + 5 and got.startswith("HTTP/1.1 413")


def assert_413(board, head):
    """Assert that a client which waits for the answer before it sends a body gets it at once."""
    got, _ = raw(board, head, [])
    assert got.startswith("HTTP/1.1 413") and "bytes: clear the notebook's outputs" in got
    assert "connection: close" in got.lower()


@pytest.mark.parametrize("length", ["-1", "1e9", "x", "99999999999999999999999"])
def test_an_invalid_content_length(board, length):
    got, _ = raw(board, f"POST /api/groups HTTP/1.1\r\nHost: x\r\nContent-Length: {length}\r\n\r\n", [])
    assert got[9:12] in ("400", "413")


@pytest.mark.parametrize(
    "name", ["", " ", "a\x00b", "a\nb", "\u202eevil", "\u200b", "x" * 41, "x" * 100_000, "\ud800", "a\x1b[31mb"]
)
def test_names_that_cannot_be_displayed(board, group, name):
    body = json.dumps({"name": name, "code": CODE})
    got = board.client.post("/api/groups", content=body, headers={"Content-Type": "application/json"})
    assert_refused(got, 422, "name")


def test_html_and_sql_in_a_name_are_kept_as_they_are(fresh):
    """They are names: pages escape them, and no SQL statement is put together from text."""
    board, _ = fresh
    for name in ("<script>alert(1)</script>", "<img src=x onerror=a()>", *SQL):
        board.join(name)
    counts = count_rows(board.store)
    assert counts["groups"] == 3 + len(SQL) and counts["entries"] == 0


@pytest.mark.parametrize(
    "body",
    ["", "null", "[]", "{}", '{"name": 3, "code": 4}', '{"name": "x"}', "{" * 100_000,
     '{"name": "x", "code": "y", "id": 1}', '{"name": ["x"], "code": {"$ne": 1}}'],
)  # fmt: skip
def test_a_body_of_another_form(board, group, body):
    got = board.client.post("/api/groups", content=body, headers={"Content-Type": "application/json"})
    assert got.status_code in (400, 422) and list(got.json()) == ["detail"] and isinstance(got.json()["detail"], str)


def test_a_wrong_code_and_a_name_that_is_taken(board, group):
    join = lambda name, code: board.client.post("/api/groups", json={"name": name, "code": code})  # noqa: E731
    for code in ("", "otter", CODE.upper(), CODE + " ", *SQL):
        assert_refused(join("Bob", code), 403, "the code")
    assert_refused(join("ada", CODE), 409, "already")


@pytest.mark.parametrize("token", ["x", "é", *SQL, "0" * 64, "Bearer", "a" * 10_000])
def test_an_invalid_token(board, group, token):
    headers = {"Authorization": f"Bearer {token}".encode()}
    assert_refused(board.enter(headers), 401, "token")
    assert_refused(board.client.get("/api/entries", headers=headers), 401, "token")
    assert_refused(board.client.post("/api/freeze", json={"frozen": True}, headers=headers), 401, "token")


def test_no_token_or_another_scheme(board, group):
    token = group["Authorization"].removeprefix("Bearer ")
    for headers in ({}, {"Authorization": f"Basic {token}"}, {"Authorization": token}, {"Cookie": "board=x"}):
        assert_refused(board.client.get("/api/entries", headers=headers), 401, "token")


def test_the_stored_checksum_of_a_token_is_not_a_token(board, group):
    """Whoever reads the database or the log cannot hand in for others."""
    for line in board.store.log.read_lines():
        for stolen in (line.hash, json.loads(line.detail).get("token")):
            if stolen:
                assert_refused(board.enter({"Authorization": f"Bearer {stolen}"}), 401, "token")


def test_a_request_from_a_page_of_another_site(board, group):
    cookie = {"Cookie": f"board={group['Authorization'].removeprefix('Bearer ')}"}
    for headers in (
        {"Origin": "https://evil.example"}, {"Origin": "null"}, {"Sec-Fetch-Site": "cross-site"}, {},
        {"Sec-Fetch-Site": "same-site"}, {"Origin": board.url.replace("127.0.0.1", "127.0.0.1.evil.example")},
    ):  # fmt: skip
        assert_refused(board.enter(cookie | headers), 403, "another site")
    assert_refused(board.enter(group | {"Origin": "https://evil.example"}), 403, "another site")


def test_a_page_of_the_board_itself_may_send_with_its_cookie(fresh):
    board, group = fresh
    cookie = {"Cookie": f"board={group['Authorization'].removeprefix('Bearer ')}"}
    for headers in ({"Origin": board.url}, {"Sec-Fetch-Site": "same-origin"}):
        assert board.enter(cookie | headers).status_code == 201


def test_the_deadline_has_passed(fresh):
    board, group = fresh
    number = board.store.entries.accept(1, "a", make_entry())[0]
    pass_deadline(board.store)
    before = count_rows(board.store)
    assert_refused(board.enter(group), 403, "the deadline has passed")
    assert_refused(board.client.post(f"/api/entries/{number}/choose", headers=group), 403, "the deadline has passed")
    assert count_rows(board.store) == before


@pytest.mark.parametrize("key", ["", "x" * 81, "a b", "é".encode(), *SQL[:1]])
def test_an_invalid_key(board, group, key):
    headers = group | {"Idempotency-Key": key}
    got = board.client.post("/api/entries", headers=headers, files={k: (k, v) for k, v in make_files().items()})
    assert got.status_code == 422 and "Idempotency-Key" in got.json()["detail"]


def test_file_names_are_ignored(fresh, tmp_path):
    board, group = fresh
    before = sorted(path.name for path in tmp_path.rglob("*"))
    for number, name in enumerate(("../../etc/passwd", "/etc/passwd", "C:\\x", "a\x00b", "x" * 5000, *SQL, "<script>")):
        parts = {part: (name, content) for part, content in make_files().items()}
        headers = group | {"Idempotency-Key": f"k{number}"}
        got = board.client.post("/api/entries", headers=headers, files=parts)
        assert got.status_code in (201, 400, 429), got.text
    assert sorted(path.name for path in tmp_path.rglob("*")) == before


def test_a_form_with_other_parts(board, group):
    made = [(name, (name, content)) for name, content in make_files().items()]
    send = lambda parts, **more: board.client.post(  # noqa: E731
        "/api/entries", headers=group | {"Idempotency-Key": "k"}, files=parts, **more
    )
    assert_refused(send(made[:2]), 422, "has no file notebook")
    assert_refused(send([*made[:2], ("other", ("x", b"x"))]), 422, "unexpected part")
    assert_refused(send([*made[:2], made[0]]), 422, "unexpected part")
    assert_refused(send([*made, made[0]]), 400, "form cannot be read")
    assert_refused(send(made, data={"ranks": "x" * 2000}), 400, "form cannot be read")
    assert_refused(send(made[1:], data={"random": "text"}), 422, "has no file random")
    assert_refused(send(None, data={"random": "x"}), 422, "has no file")
    for body, kind in ((b"x", "multipart/form-data"), (b"x", "multipart/form-data; boundary=b"), (b"", "text/plain")):
        headers = group | {"Idempotency-Key": "k", "Content-Type": kind}
        assert board.client.post("/api/entries", headers=headers, content=body).status_code in (400, 422)


@pytest.mark.parametrize("number", ["0", "-1", "1e3", "99999999999999999999", "1;--", "%27", "..%2f..", "x", "1.0"])
def test_an_invalid_entry_number(board, group, number):
    for path, headers in (
        (f"/api/entries/{number}/choose", group),
        (f"/api/entries/{number}/notebook", board.instructor),
    ):
        method = "POST" if path.endswith("choose") else "GET"
        assert board.client.request(method, path, headers=headers).status_code in (404, 422)


@pytest.mark.parametrize("reason", ["", "\x00", "a\nb", "x" * 301])
def test_an_invalid_reason(board, group, reason):
    got = board.client.post("/api/entries/1/withdraw", json={"reason": reason}, headers=board.instructor)
    assert_refused(got, 422, "the reason")


def test_invalid_settings(board, group):
    for changes in (
        {"per_day": 0},
        {"deadline": "soon"},
        {"code": "x"},
        {"colour": "red"},
        {"per_day": "5"},
        {"name": ""},
    ):
        got = board.client.put("/api/settings", json=changes, headers=board.instructor)
        assert got.status_code == 422 and isinstance(got.json()["detail"], str)
    assert board.store.settings.read().per_day == 5


def test_a_connection_that_drops(board, group):
    head = (
        f"POST /api/entries HTTP/1.1\r\nHost: x\r\nAuthorization: {group['Authorization']}\r\nIdempotency-Key: k\r\n"
        "Content-Type: multipart/form-data; boundary=b\r\nContent-Length: 500000\r\n\r\n"
    )
    host, _, port = board.url.removeprefix("http://").partition(":")
    with socket.create_connection((host, int(port))) as connection:
        connection.sendall(head.encode() + b"--b\r\n" + b"x" * 1000)
    time.sleep(0.2)
    assert board.client.get("/api/standing").status_code == 200
