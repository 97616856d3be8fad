"""Silent, slow and too many connections, by real sockets: others are served, and nothing floods the output."""

import socket
import ssl

import psutil
import pytest
import trustme

from autograder.competition.leaderboard.connections import TOTAL, find_origin
from autograder.testing.board_command import run_board_command, wait_for
from autograder.testing.sockets import Dripping, count_open, make_client, open_silent

FILES = 656  # at most so many files: 400 connections, of which one address may have 100
SMALL = ("prlimit", f"--nofile={FILES}:{FILES}")


def port_of(running):
    return int(running.url.rpartition(":")[2])


def test_a_flood_of_silent_connections_from_one_address_keeps_nobody_waiting(start, tmp_path):
    running = start(tmp_path, prefix=SMALL)
    with open_silent(port_of(running), 500) as connections:
        for address in ("127.0.0.2", "127.0.0.1"):  # a student elsewhere, and one beside the flood
            with make_client(running.url, address) as client:
                for _ in range(5):
                    assert client.get("/api/standing").status_code == 200
        wait_for(lambda: count_open(connections) <= 100)
    assert len(running.output.splitlines()) < 12, running.output


def test_a_flood_from_many_addresses_takes_no_place_that_a_request_needs(start, tmp_path):
    running = start(tmp_path, prefix=SMALL)
    with open_silent(port_of(running), 90) as first:
        floods = [open_silent(port_of(running), 90, address=f"127.0.1.{n}") for n in range(1, 6)]
        everything = [*first, *(each for flood in floods for each in flood.__enter__())]
        with make_client(running.url, "127.0.0.2") as client:
            assert client.get("/api/standing").status_code == 200
        assert count_open(everything) <= 400
        for flood in floods:
            flood.__exit__(None, None, None)
    assert "Traceback" not in running.output


@pytest.mark.long
def test_slow_headers_unfinished_bodies_and_idle_connections_are_closed_and_a_stream_of_events_is_not(start, tmp_path):
    running = start(tmp_path)
    port = port_of(running)
    body = b"POST /api/groups HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 900\r\n\r\n{"
    late = b"GET /api/standing HTTP/1.1\r\nHost: a\r\nContent-Length: 900\r\n\r\n"  # answered before its body has come
    with (
        running.client.stream("GET", "/api/events", timeout=60) as events,
        open_silent(port, 3, b"") as silent,
        open_silent(port, 3) as slow,
        open_silent(port, 3, body) as unfinished,
        open_silent(port, 3, late) as answered,
        open_silent(port, 3, b"GET /api/standing HTTP/1.1\r\nHost: a\r\n\r\n") as idle,
    ):
        lines = events.iter_lines()
        assert next(lines) == "event: standing"
        dripping = Dripping([*slow, *answered])
        for connections in (silent, slow, answered, idle, unfinished):
            wait_for(lambda connections=connections: not count_open(connections))
        dripping.stop()
        running.board.join("Ada")
        seen = [next(lines) for _ in range(9)]
        assert ": still here" in seen  # the stream was open for a minute and more
    assert "Traceback" not in running.output


def test_a_board_raises_the_limit_on_its_open_files(start, tmp_path):
    running = start(tmp_path, prefix=("prlimit", "--nofile=256:"))
    soft, hard = psutil.Process(running.process.pid).rlimit(psutil.RLIMIT_NOFILE)
    assert soft == min(hard, 2 * TOTAL) > 256


def test_requests_that_are_none_write_one_line_and_not_thousands(start, tmp_path):
    running = start(tmp_path)
    before = len(running.output.splitlines())
    with open_silent(port_of(running), 200, b"\x16\x03\x01 nonsense\r\n\r\n") as connections:
        wait_for(lambda: not count_open(connections))
    with make_client(running.url) as client:
        assert client.get("/api/standing").status_code == 200
    assert len(running.output.splitlines()) - before <= 2, running.output


def test_an_address_is_an_ipv4_address_or_a_network_of_ipv6():
    assert find_origin("192.0.2.7") == find_origin("::ffff:192.0.2.7") == "192.0.2.7"
    assert find_origin("2001:db8::1") == find_origin("2001:db8::ff") != find_origin("2001:db8:1::1")
    assert find_origin("fe80::1%eth0") == "fe80::/64" and find_origin("testclient") == "testclient"


# -- TLS


@pytest.fixture(scope="module")
def authority():
    """An authority that signs certificates for this test."""
    return trustme.CA()


@pytest.fixture
def files(authority, tmp_path):
    """(certificate, key) of 127.0.0.1, as paths."""
    issued, paths = authority.issue_cert("127.0.0.1"), (tmp_path / "board.pem", tmp_path / "board.key")
    issued.cert_chain_pems[0].write_to_path(paths[0])
    issued.private_key_pem.write_to_path(paths[1])
    return paths


def test_a_board_with_a_certificate_serves_by_tls_alone_and_does_not_wait_for_silent_handshakes(
    start, tmp_path, authority, files
):
    context = ssl.create_default_context()
    authority.configure_trust(context)
    arguments = ("--certificate", str(files[0]), "--key", str(files[1]))
    running = start(tmp_path / "board", *arguments, prefix=SMALL, verify=context)
    assert running.url.startswith("https://")
    with open_silent(port_of(running), 300, b"", "127.0.0.2") as connections:
        assert running.client.get("/api/standing").status_code == 200
        wait_for(lambda: count_open(connections) <= 100)
    with running.client.stream("GET", "/api/events") as events:
        assert next(events.iter_lines()) == "event: standing"
    with socket.create_connection(("127.0.0.1", port_of(running))) as plain:
        plain.sendall(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        plain.settimeout(30)
        assert b"HTTP" not in plain.recv(1000)
    page = running.client.post("/log-in", data={"token": (tmp_path / "board/instructor-token").read_text()},
                               headers={"Origin": running.url})  # fmt: skip
    assert "Secure" in page.headers["set-cookie"]
    assert "Traceback" not in running.output


def test_a_certificate_that_cannot_be_used_is_one_sentence(tmp_path, files):
    (tmp_path / "none.pem").write_text("nothing")
    for arguments, words in (
        (["--certificate", tmp_path / "none.pem"], "cannot be used for TLS"),
        (["--certificate", tmp_path / "missing.pem"], "no such file or directory"),
        (["--certificate", files[0], "--key", tmp_path / "none.pem"], "cannot be used for TLS"),
        (["--certificate", files[0]], "cannot be used for TLS"),
        (["--key", files[1]], "--key needs --certificate"),
    ):
        status, output = run_board_command(tmp_path / "board", "--port", "0", *arguments)
        assert status == 1 and words in output and output.count("\n") == 1, output
