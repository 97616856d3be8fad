"""What a student's sandbox shows, without a Hub."""

import os
import subprocess

import pytest

from autograder.classroom import sandbox
from autograder.testing.needs import needs_sandbox

pytestmark = needs_sandbox


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, which gives each student a user id")
@pytest.mark.may_skip
def test_a_course_below_tmp_is_visible_to_students(tmp_path, monkeypatch):
    file, home = tmp_path / "course" / "file", tmp_path / "home"
    for path in (file.parent, home):
        path.mkdir()
    file.write_text("seen")
    visible = [*sandbox.list_visible_folders(), str(file.parent)]
    monkeypatch.setattr(sandbox, "list_visible_folders", lambda: visible)
    user = sandbox.USERS[0]
    command = sandbox.enclose(["cat", str(file)], "ada", user, {}, ["--bind", str(home), sandbox.find_home("ada")])
    assert subprocess.run(command, capture_output=True, text=True).stdout == "seen"
