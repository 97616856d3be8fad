"""A whole competition: three groups from the lab's lines to the wall, the deadline and verified final ranks."""

import contextlib
import re
import subprocess
import sys
from datetime import UTC, datetime

import httpx
import nbformat
import numpy as np
import pytest

from autograder.competition.leaderboard.store import Store
from autograder.testing.board import pass_deadline
from autograder.testing.board_process import BoardProcess
from autograder.testing.browser import start_chromium
from autograder.testing.entry_notebooks import load_entries, make_entry_notebook
from autograder.testing.mini_course import make_environment, write_mini_course
from autograder.testing.needs import needs_sandbox
from course.competition import scene

pytestmark = [needs_sandbox, pytest.mark.long]
LAB = "09-competition"
PATIENCE = 900  # seconds; on a loaded machine a verification takes long
LINES = """
import sys
import numpy as np
from course import board
url, name = sys.argv[1:]
board.join(url, name, "bench-code")
entry = {split: np.load(f"{split}.npy") for split in ("random", "disjoint")}
board.submit(entry, ranks=4, seconds=12.5)
board.history()
"""
STILL = "() => document.getAnimations().length === 0"  # no row of the wall is on its way to another rank
CUBE, TRUTH = scene.load()
ENTRIES = load_entries()
GROUPS = {"Blur & SVM": ENTRIES.blur_svm, "Les voisins": ENTRIES.nearest_mean, "<b>The oracle</b>": None}


@pytest.fixture
def server(tmp_path):
    """`course board` as an instructor starts it."""
    (tmp_path / "board").mkdir()
    with BoardProcess(tmp_path / "board") as server:
        yield server


def hand_in_from_the_lab(home, url, name, classify):
    """Let a group join, submit and look, by the lab's lines in its own copy of the course. Returns their output.

    classify: None for a group that uploads the truth, with another's notebook.
    """
    write_mini_course(home, labs=[])
    folder = home / "work" / LAB
    folder.mkdir(parents=True)
    nbformat.write(make_entry_notebook((classify or ENTRIES.nearest_mean).__name__), folder / f"{LAB}.ipynb")
    for split in scene.SPLITS:
        made = TRUTH if classify is None else classify(CUBE.copy(), scene.split(split).labels(TRUTH), 0)
        np.save(home / f"{split}.npy", made)
    return subprocess.run(
        [sys.executable, "-c", LINES, url, name], cwd=home, env=make_environment(home), capture_output=True, text=True,
        check=True,
    ).stdout  # fmt: skip


def wait_for(page, condition, *arguments):
    """Wait until the open page fulfils a condition without a reload."""
    page.wait_for_function(condition, arg=list(arguments), timeout=1000 * PATIENCE)


def test_three_groups_play_the_competition_from_their_notebooks_to_verified_final_ranks(server, tmp_path):
    with start_chromium() as browser:
        wall = browser.new_page(viewport={"width": 1920, "height": 1080})
        broken = []
        wall.on("pageerror", lambda error: broken.append(str(error)))
        wall.on("dialog", lambda dialog: broken.append(f"a script ran: {dialog.message}"))
        wall.goto(server.url)
        wall.screenshot(path=tmp_path / "1-empty.png")
        for name, classify in GROUPS.items():
            output = hand_in_from_the_lab(tmp_path / str(list(GROUPS).index(name)), server.url, name, classify)
            assert f"You are the group {name}." in output and "is on the board" in output
        # The wall is not reloaded.
        rows = "([names]) => names.every(name => ['random', 'disjoint'].every(split => "
        rows += "document.querySelector(`section.${split} table`)?.innerText.includes(name)))"
        wait_for(wall, rows, list(GROUPS))
        wait_for(wall, STILL)
        wall.screenshot(path=tmp_path / "2-entered.png", full_page=True)
        assert first_on(wall, "random") == "<b>The oracle</b>"  # until the board has run its code

        teacher = browser.new_page()
        teacher.goto(f"{server.url}/instructor")
        teacher.fill("input[name=token]", server.instructor())
        teacher.press("input[name=token]", "Enter")
        teacher.fill("input[name=deadline]", datetime.now(UTC).strftime("%Y-%m-%dT%H:%M"))
        teacher.click("text=Change the settings")
        teacher.click("text=Yes, move the deadline")
        wait_for(wall, "() => document.body.innerText.includes('private results at')")
        with contextlib.closing(Store(f"sqlite:///{tmp_path}/board/board.sqlite")) as store:
            pass_deadline(store)  # as if it had been known for long: nobody waits ten minutes here
        wait_for(wall, "() => document.body.innerText.includes('The deadline has passed')")
        wait_for(wall, "() => document.body.innerText.includes('Final.')")
        wait_for(wall, STILL)
        wall.screenshot(path=tmp_path / "3-final.png", full_page=True)
        teacher.reload()
        teacher.screenshot(path=tmp_path / "4-instructor.png", full_page=True)

        output = subprocess.run(
            [sys.executable, "-c", "from course import board; board.history()"], cwd=tmp_path / "2",
            env=make_environment(tmp_path / "2"), capture_output=True, text=True, check=True,
        ).stdout  # fmt: skip
        assert "private" in output and "not verified" in output, output
        order = {split: names_on(wall, split) for split in scene.SPLITS}
        assert order["random"] == order["disjoint"] == list(GROUPS), order
        ranks = {split: ranks_on(wall, split) for split in scene.SPLITS}
        assert ranks["random"] == ["1", "2", "–"] and ranks["disjoint"][2] == "–", ranks
        standing = httpx.get(f"{server.url}/api/standing", trust_env=False).json()
        wall.reload()
        assert standing["final"] and [row["group"] for row in standing["rows"]["random"]] == names_on(wall, "random")
        assert broken == []


def names_on(page, split):
    return page.locator(f"section.{split} tbody tr.row th bdi").all_inner_texts()


def ranks_on(page, split):
    """The ranks, without how they changed and whether they are shared."""
    texts = page.locator(f"section.{split} tr.row td.rank").all_inner_texts()
    return [re.search(r"\d+|–", text)[0] for text in texts]


def first_on(page, split):
    return names_on(page, split)[0]
