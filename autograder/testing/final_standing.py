"""A whole class at the deadline: every group's entry is verified on the private part, until the standing is final."""

import contextlib
import json
import tempfile
import time
from pathlib import Path

import httpx
import nbformat
from nbformat.v4 import new_code_cell, new_notebook

from autograder.competition import verifier
from autograder.competition.leaderboard.store import Store
from autograder.testing.board import ServedBoard, pass_deadline
from autograder.testing.board_process import CODE, BoardProcess
from autograder.testing.entry_notebooks import load_entries, make_entry_notebook
from autograder.testing.maps import to_npy
from course.competition import scene

ENDLESS = "def classify(cube, labels, seed):\n    while True:\n        pass"
PATIENCE = 6 * 3600  # seconds until a standing that is not final counts as failed


def reach_final_standing(groups, endless):
    """Let so many groups hand in, with honest solutions of all kinds, and let the deadline pass. Returns a row.

    endless: how many of them hand in code that never ends. minutes: from the deadline to the final standing.
    """
    with tempfile.TemporaryDirectory(prefix="board-") as folder, BoardProcess(Path(folder)) as server:
        with (
            httpx.Client(base_url=server.url, trust_env=False, timeout=60) as client,
            contextlib.closing(Store(f"sqlite:///{folder}/board.sqlite")) as store,
        ):
            board = ServedBoard(store, server.url, client)
            for number, content in enumerate(make_contents(groups, endless)):
                header = {"name": f"Group {number:03}", "code": CODE}
                token = client.post("/api/groups", json=header).raise_for_status().json()["token"]
                board.enter({"Authorization": f"Bearer {token}"}, **content).raise_for_status()
            pass_deadline(store)
            start = time.monotonic()
            while not (standing := client.get("/api/standing").json())["final"]:
                if time.monotonic() - start > PATIENCE:
                    break
                time.sleep(1)
            seconds = time.monotonic() - start
        states = [row["verification"]["state"] for row in standing["rows"]["random"]]
    return {
        "final_standing_of": groups,
        "endless": endless,
        "verifiers": verifier.choose_count(),
        "verified": states.count("verified"),
        "refused": states.count("refused"),
        "is_final": standing["final"],
        "minutes": round(seconds / 60, 1),
    }


def make_contents(groups, endless):
    """The files of each group's entry, name -> bytes: the honest solutions in turn, then code that never ends."""
    honest = load_entries().HONEST
    cube, truth = scene.load()
    kinds = []
    for function in honest.values():
        maps = {split: function(cube.copy(), scene.split(split).labels(truth), 0) for split in scene.SPLITS}
        notebook = make_entry_notebook(function.__name__)
        kinds.append(
            {split: to_npy(each) for split, each in maps.items()} | {"notebook": json.dumps(notebook).encode()}
        )
    for number in range(groups - endless):
        yield kinds[number % len(kinds)]
    bad = nbformat.writes(new_notebook(cells=[new_code_cell(ENDLESS)])).encode()
    for _ in range(endless):
        yield kinds[0] | {"notebook": bad}
