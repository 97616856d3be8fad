"""The recipe for nginx in front of a board, run by Debian's nginx: uploads, streams, cookies, addresses."""

import contextlib
import os
import re
import shutil
import ssl
import subprocess
from pathlib import Path

import httpx
import pytest
import trustme

from autograder.competition import leaderboard
from autograder.competition.leaderboard import rules
from autograder.competition.leaderboard.web.guesses import BURST
from autograder.testing import board as boards
from autograder.testing.board import ServedBoard, make_files
from autograder.testing.board_command import wait_for
from autograder.testing.board_process import find_free_port
from autograder.testing.sockets import make_client

RECIPE = Path(leaderboard.__file__).parent / "nginx.conf"
MAIN = """
daemon off;
pid {folder}/nginx.pid;
error_log {folder}/error.log;
{user}
events {{ worker_connections 500; }}
http {{
    access_log off;
    {temporary}
    include {folder}/board.conf;
}}
"""
KINDS = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")


@pytest.fixture
def proxied(board, tmp_path):
    """A board behind nginx: (a ServedBoard whose client goes through nginx by TLS, the client's ssl.SSLContext)."""
    nginx = shutil.which("nginx", path=f"{os.environ['PATH']}{os.pathsep}/usr/sbin")
    if nginx is None:
        pytest.skip("nginx is not installed: install Debian's package nginx")
    authority, port = trustme.CA(), find_free_port()
    issued, context = authority.issue_cert("127.0.0.1"), ssl.create_default_context()
    authority.configure_trust(context)
    issued.cert_chain_pems[0].write_to_path(tmp_path / "board.pem")
    issued.private_key_pem.write_to_path(tmp_path / "board.key")
    text = RECIPE.read_text()
    for old, new in (
        ("listen 443 ssl", f"listen 127.0.0.1:{port} ssl"), ("board.example.org", "127.0.0.1"),
        ("/etc/ssl/certs/", f"{tmp_path}/"), ("/etc/ssl/private/", f"{tmp_path}/"),
        ("http://127.0.0.1:8000", board.url),
    ):  # fmt: skip
        assert old in text
        text = text.replace(old, new)
    (tmp_path / "board.conf").write_text(text)
    temporary = "\n    ".join(f"{kind}_temp_path {tmp_path}/{kind};" for kind in KINDS)
    user = "user root;" if os.geteuid() == 0 else ""
    (tmp_path / "main.conf").write_text(MAIN.format(folder=tmp_path, temporary=temporary, user=user))
    process = subprocess.Popen([nginx, "-e", tmp_path / "error.log", "-c", tmp_path / "main.conf"])
    try:
        with make_client(f"https://127.0.0.1:{port}", verify=context) as client:
            wait_for(lambda: process.poll() is not None or answers(client))
            assert process.poll() is None, (tmp_path / "error.log").read_text()
            yield ServedBoard(board.store, f"https://127.0.0.1:{port}", client), context
    finally:
        process.terminate()
        process.wait(30)


def answers(client):
    with contextlib.suppress(httpx.TransportError):
        return client.get("/api/standing").status_code == 200


def test_a_group_hands_in_and_streams_come_through_the_recipe_for_nginx(proxied):
    board, context = proxied
    group = board.join("Ada")
    with board.client.stream("GET", "/api/events") as events:
        lines = events.iter_lines()
        assert next(lines) == "event: standing"
        assert board.enter(group, **make_files(notebook=boards.NOTEBOOK.encode() + b" " * 2**20)).status_code == 201
        board.store.settings.freeze(True)
        assert next(line for line in lines if line.startswith("data:"))
        assert next(line for line in lines if line.startswith("data:")), "the change came while the stream was open"
    large = board.enter(group, **make_files(notebook=b" " * rules.MAX_BODY))
    assert large.status_code == 413 and "bytes" in large.json()["detail"]
    page = board.client.post("/log-in", data={"token": board.store.token}, headers={"Origin": board.url})
    assert page.status_code == 303 and re.search("Secure", page.headers["set-cookie"])
    board.client.cookies.clear()  # whoever has one is asked which page the request comes from
    codes = ({"name": "Eve", "code": f"wrong-{number}"} for number in range(10 * BURST))  # the board forgives meanwhile
    assert any(board.client.post("/api/groups", json=code).status_code == 429 for code in codes)
    with make_client(board.url, "127.0.0.2", verify=context) as elsewhere:
        assert elsewhere.post("/api/groups", json={"name": "Bob", "code": boards.CODE}).status_code == 201
