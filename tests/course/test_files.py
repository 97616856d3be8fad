"""Files that are written whole: nobody sees half of one, and nothing is left where writing fails."""

import os
import stat

import pytest

from course import files


def test_a_file_is_replaced_and_its_folder_is_made(tmp_path):
    path = tmp_path / "a" / "b.txt"
    files.write_whole(path, "naïve")
    files.write_whole(path, b"second")
    assert path.read_bytes() == b"second"
    assert list(path.parent.iterdir()) == [path]


def test_permissions_follow_the_umask_as_for_any_other_file(tmp_path):
    before = os.umask(0o027)
    try:
        files.write_whole(tmp_path / "open", b"")
        files.write_whole(tmp_path / "secret", b"", mode=0o600)
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "open").stat().st_mode) == 0o640
    assert stat.S_IMODE((tmp_path / "secret").stat().st_mode) == 0o600


def test_where_writing_fails_the_old_file_stays_and_nothing_else_is_left(tmp_path, monkeypatch):
    path = tmp_path / "file"
    path.write_text("old")
    monkeypatch.setattr(files.os, "fsync", lambda _: (_ for _ in ()).throw(OSError("no space left")))
    with pytest.raises(OSError, match="no space left"):
        files.write_whole(path, "new")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]
