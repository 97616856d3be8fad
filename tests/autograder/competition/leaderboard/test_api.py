"""The JSON API over HTTP: a group from joining to its history, the instructor's part, events, and permissions."""

import contextlib
import csv
import io
import json

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error

from autograder.competition.leaderboard import worker
from autograder.competition.leaderboard.store import tables
from autograder.competition.leaderboard.web import app
from autograder.testing import board as boards
from autograder.testing.board import CODE, make_files, pass_deadline, serve_app
from course.competition import scene


def test_a_group_joins_hands_in_chooses_and_sees_its_rank(board):
    group = board.join("Ada")
    got = board.enter(group, ranks=4, seconds=12.5)
    assert got.status_code == 201, got.text
    first = got.json()
    assert first["counts"] and first["scores"] is None and first["evidence"] == {"ranks": 4, "seconds": 12.5}
    assert first["verification"] == {"state": "waiting", "said": ""}
    second = board.enter(group).json()
    assert board.client.post(f"/api/entries/{first['id']}/choose", headers=group).json()["chosen"]
    worker.Scoring(board.store).step()
    got = board.client.get("/api/entries", headers=group).json()
    assert [entry["id"] for entry in got["entries"]] == [second["id"], first["id"]] and got["left_today"] == 3
    numbers = got["entries"][0]["scores"]
    assert set(numbers) == set(scene.SPLITS) and 0.8 < numbers["random"]["overall"] < 1
    assert set(numbers["random"]) == {"overall", "low", "high", "average", "kappa", "recall"}
    (row,) = board.client.get("/api/standing").json()["rows"]["random"]
    assert (row["rank"], row["group"], row["entry"], row["verified"]) == (1, "Ada", first["id"], False)


def test_an_entry_that_is_sent_again_gets_the_same_answer(board):
    group, content = board.join("Ada"), make_files()
    answers = [board.enter(group, "key", **content) for _ in range(3)]
    assert [got.status_code for got in answers] == [201, 200, 200]
    assert len({got.text for got in answers}) == 1
    assert board.enter(group, "key", **make_files()).status_code == 409


def test_nothing_of_the_private_part_is_answered_before_the_deadline(board):
    """No answer contains it, and the database does not either: it has not been computed."""
    group = board.join("Ada")
    number = board.enter(group).json()["id"]
    scoring = worker.Scoring(board.store)
    scoring.step()
    requests = [
        ("GET", "/api/standing", {}), ("GET", "/api/standing?part=private", {}), ("GET", "/api/entries", group),
        ("GET", "/api/standing", board.instructor), ("GET", "/api/export.csv", board.instructor),
        ("GET", "/api/audit", board.instructor), ("GET", f"/api/entries/{number}/verdict", board.instructor),
    ]  # fmt: skip
    before = [board.client.request(method, path, headers=headers).text for method, path, headers in requests]
    assert not any('"private":{' in text or '"part":"private"' in text for text in before)
    with board.store.database.reading() as connection:
        parts = {row.part for table in (tables.scores, tables.ranks) for row in connection.execute(table.select())}
    assert parts == {"public"}
    public = board.client.get("/api/entries", headers=group).json()["entries"][0]["scores"]
    pass_deadline(board.store)
    assert board.client.get("/api/standing").json() | {"version": 0, "deadline": ""} == {
        "version": 0, "name": "Test", "part": "private", "final": False, "frozen": False, "deadline": "",
        "rows": {"random": [], "disjoint": []},
    }  # fmt: skip
    scoring = worker.Scoring(board.store)
    scoring.step()
    (entry,) = board.client.get("/api/entries", headers=group).json()["entries"]
    assert entry["scores"] == public and entry["private"] != public
    assert board.enter(group).status_code == 403


def test_the_standing_is_final_when_all_counting_entries_are_verified(board):
    for name in ("Ada", "Bob"):
        board.enter(board.join(name))
    pass_deadline(board.store)
    scoring = worker.Scoring(board.store)
    for state in ("verified", "refused"):
        scoring.step()
        assert not board.client.get("/api/standing").json()["final"]
        number, part = board.store.work.take_next_to_verify()
        again = {split: board.store.entries.read_file(number, split) for split in scene.SPLITS}
        board.store.work.put_verdict(number, part, state, "said", {}, again)
    worker.Scoring(board.store).step()
    got = board.client.get("/api/standing").json()
    assert got["final"] and [row["rank"] for row in got["rows"]["random"]] == [1, None]


def test_the_instructor_sets_withdraws_freezes_rescores_exports_and_reads_the_log(board):
    group = board.join("=Ada()")
    number = board.enter(group).json()["id"]
    worker.Scoring(board.store).step()
    request = lambda method, path, **body: board.client.request(  # noqa: E731
        method, f"/api/{path}", headers=board.instructor, json=body or None
    )
    assert request("PUT", "settings", per_day=1, time_zone="Europe/Berlin").json()["per_day"] == 1
    assert board.enter(group).status_code == 429
    assert request("GET", "settings").json()["code"] == CODE
    assert request("POST", "freeze", frozen=True).json() == {"frozen": True}
    assert board.enter(board.join("Bob")).status_code == 403
    got = request("GET", f"entries/{number}/notebook")
    assert got.content == boards.NOTEBOOK.encode() and "attachment" in got.headers["content-disposition"]
    rows = list(csv.DictReader(io.StringIO(request("GET", "export.csv").text)))
    assert [(row["split"], row["group"], row["rank"]) for row in rows] == [
        ("random", "'=Ada()", "1"), ("disjoint", "'=Ada()", "1")]  # fmt: skip
    assert request("POST", f"entries/{number}/withdraw", reason="two groups, one notebook").status_code == 200
    assert board.client.get("/api/entries", headers=group).json()["entries"][0]["withdrawn"] == (
        "two groups, one notebook"
    )
    assert request("POST", "rescore").status_code == 202
    token = request("POST", "groups/1/token").json()["token"]
    assert board.client.get("/api/entries", headers=group).status_code == 401
    assert board.client.get("/api/entries", headers={"Authorization": f"Bearer {token}"}).status_code == 200
    actions = [line["action"] for line in request("GET", "audit").json()["lines"]]
    assert actions == ["opened", "joined", "handed in", "set", "frozen", "joined", "withdrew", "rescored",
                       "gave a new token"]  # fmt: skip


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "settings"), ("PUT", "settings"), ("POST", "rescore"), ("POST", "entries/1/withdraw"),
        ("POST", "freeze"), ("GET", "export.csv"), ("GET", "audit"), ("GET", "entries/1/notebook"),
        ("GET", "entries/1/verdict"),
    ],
)  # fmt: skip
def test_only_the_instructor_may_use_the_instructors_part(board, method, path):
    group = board.join("Ada")
    body = {"frozen": True, "reason": "x"}
    assert board.client.request(method, f"/api/{path}", json=body).status_code == 401
    got = board.client.request(method, f"/api/{path}", json=body, headers=group)
    assert got.status_code == 403 and "only the instructor may" in got.json()["detail"]


def test_a_group_sees_and_chooses_only_its_own_entries(board):
    ada, bob = board.join("Ada"), board.join("Bob")
    number = board.enter(ada).json()["id"]
    assert board.client.get("/api/entries", headers=bob).json()["entries"] == []
    assert board.client.post(f"/api/entries/{number}/choose", headers=bob).status_code == 404


def read_versions(lines, count):
    """The next versions in a stream of events."""
    collected = []
    for line in lines:
        if line.startswith("data:"):
            collected.append(json.loads(line[5:])["version"])
            if len(collected) == count:
                return collected
    return collected


def test_every_listener_gets_an_event_when_something_changes(board):
    with contextlib.ExitStack() as stack:
        streams = [
            stack.enter_context(board.client.stream("GET", "/api/events", headers={"Accept": "text/event-stream"}))
            for _ in range(20)
        ]
        lines = [stream.iter_lines() for stream in streams]
        first = [read_versions(each, 1) for each in lines]
        board.store.settings.freeze(True)
        assert all(read_versions(each, 1)[0] > before[0] for each, before in zip(lines, first, strict=True))
        assert streams[0].headers["content-type"].startswith("text/event-stream")


def test_the_api_works_below_a_path(small, tmp_path):
    with serve_app(app.make_app(app.Config(small, prefix="/services/board"))) as address:
        assert httpx.get(f"{address}/services/board/api/standing", trust_env=False).status_code == 200


def test_an_openapi_document_describes_the_api_and_nothing_is_loaded_from_other_sites(board):
    document = board.client.get("/openapi.json").json()
    assert {"/api/groups", "/api/entries", "/api/standing", "/api/events"} <= set(document["paths"])
    assert board.client.get("/docs").status_code == 404
    for path in ("/api/standing", "/nothing"):
        assert board.client.get(path).headers["content-security-policy"].startswith("default-src 'self'")


def test_no_request_valid_or_not_is_answered_by_a_5xx(board):
    """Each operation with requests that schemathesis generates, as the instructor and as a group, with a fixed seed."""
    group, requests = board.join("Ada"), []
    schema = schemathesis.openapi.from_url(f"{board.url}/openapi.json")
    for operation in (result.ok() for result in schema.get_all_operations()):
        for headers in (board.instructor, group):
            if operation.path != "/api/events":  # this stream does not end
                requests += read_statuses(operation, board.url, headers)
    assert len(requests) > 100 and {200, 403, 422} <= set(requests) and max(requests) < 500


def read_statuses(operation, url, headers):
    """The statuses of the answers to requests for an operation, valid and invalid ones."""
    collected = []

    @settings(max_examples=10, deadline=None, database=None, derandomize=True, suppress_health_check=list(HealthCheck))
    @given(st.one_of(operation.as_strategy(generation_mode=mode) for mode in GenerationMode))
    def ask(case):
        got = case.call(base_url=url, headers=headers)
        collected.append(got.status_code)
        case.validate_response(got, checks=[not_a_server_error])

    ask()
    return collected
