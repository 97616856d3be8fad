"""The patches of Horovod: each fits exactly or is refused, and the patched sources are those that the tests know."""

import hashlib

import pytest

from course.horovod import build, patching
from course.horovod.patching import Hunk
from course.horovod.steps import CannotBuild, Steps

PATCH = """Greet the world, which has come of age.

--- a/horovod/greeting.py
+++ b/horovod/greeting.py
@@ -1,3 +1,2 @@
 def greet():
-    return "hello"

@@ -6 +5,2 @@
-x = 1
+x = 2
+y = 3
"""
ORIGINAL = 'def greet():\n    return "hello"\n\n# four\n# five\nx = 1\n# seven\n'
PATCHED = "def greet():\n\n# four\n# five\nx = 2\ny = 3\n# seven\n"

# SHA-256 of each patched file of Horovod 0.28.1, as it was in the first wheel that all tests of Horovod passed with.
PATCHED_SOURCES = {
    "horovod/_keras/__init__.py": "941bec0be6044f363e1591ccc42fc289d624e4960357242eefed25ca57579cc8",
    "horovod/_keras/callbacks.py": "d1957a8dd4e2368671ce9d15ad534f1a6e766fbcedf83774b03d6b8f59d74c88",
    "horovod/common/gloo/gloo_context.cc": "cb7aa803ed879aad31f6fd6111417d59b6f1e94b5730e9e27c6bf6605a80f026",
    "horovod/common/gloo/gloo_controller.cc": "03af7926ea156b6fe0fe4f3e2ec7a7a90f4b7923cc43d920a04dbc8cac1cea20",
    "horovod/keras/__init__.py": "6e34676ae2730c46c86467880a175b5f3a40183d044fadb6732c17df671a8932",
    "horovod/keras/callbacks.py": "b08d7ddab8e0361e1ab1ec898734db7b76452d48e569a5fab39e7b188a4e705b",
    "horovod/keras/elastic.py": "c8cb349e1e26ac00fb69cf1b9d27dad0120d4fc04caff7ded475552bd611cc04",
    "horovod/tensorflow/CMakeLists.txt": "64901d50cff2a6673080fdf224bdc81e825afbb0d62171266355993f7f4519d0",
    "horovod/tensorflow/keras/__init__.py": "168f5bdd4ebe7794b83276c309fa8b7de12d08c5a8534ff298595b8bf780a353",
    "horovod/tensorflow/keras/callbacks.py": "0b12917553aee16b184db93f3b74c0274860c30e1bd7cf5c6d0491da37cbb040",
    "horovod/tensorflow/keras/elastic.py": "1f27b8cb0042dea4aa192fcbb322e398ae3cdbeea6fc8455a8f42cd4cb2b0a0a",
    "horovod/torch/mpi_ops_v2.cc": "03bee3c2c8c373534a4511eca8b5aabe3bea3acab5d56a50ef4de0c68d564975",
}


@pytest.fixture
def source(tmp_path):
    """A source folder with one file."""
    (tmp_path / "horovod").mkdir()
    (tmp_path / "horovod" / "greeting.py").write_text(ORIGINAL)
    return tmp_path


def test_a_patch_changes_the_lines_that_it_names(source):
    changes = patching.parse_patch(PATCH)
    assert list(changes) == ["horovod/greeting.py"]
    assert changes["horovod/greeting.py"][1] == Hunk(6, ("x = 1",), ("x = 2", "y = 3"))
    patching.apply_changes(source, changes)
    assert (source / "horovod" / "greeting.py").read_text() == PATCHED


@pytest.mark.parametrize("where", ["one line further down", "another text", "at the end"])
def test_a_patch_that_does_not_fit_exactly_changes_nothing(source, where):
    file = source / "horovod" / "greeting.py"
    text = {
        "one line further down": f"\n{ORIGINAL}",
        "another text": ORIGINAL.replace("x = 1", "x = 7"),
        "at the end": "",
    }
    file.write_text(text[where])
    with pytest.raises(ValueError, match=r"the patch of horovod/greeting.py does not fit at line \d"):
        patching.apply_changes(source, patching.parse_patch(PATCH))
    assert file.read_text() == text[where]


@pytest.mark.parametrize(
    ("before", "after", "says"),
    [
        ("@@ -6 +5,2 @@", "@@ -6 +5,3 @@", "the hunk at line 6 counts more lines than it has"),
        ("@@ -6 +5,2 @@", "@@ -6 +5 @@", "'.y = 3' belongs to no hunk"),
        ("+++ b/horovod/greeting.py", "", "stands before the first"),
        (PATCH, "A reason alone.\n", "it changes nothing"),
    ],
)
def test_a_malformed_patch_is_refused(before, after, says):
    with pytest.raises(ValueError, match=says):
        patching.parse_patch(PATCH.replace(before, after))


def test_a_malformed_file_is_named_and_two_patches_never_change_one_file(tmp_path, monkeypatch):
    monkeypatch.setattr(patching, "PATCHES", tmp_path)
    (tmp_path / "one.patch").write_text(PATCH)
    (tmp_path / "two.patch").write_text(PATCH)
    with pytest.raises(ValueError, match=r"two.patch: another patch also changes horovod/greeting.py"):
        patching.read_changes()
    (tmp_path / "two.patch").write_text("nothing")
    with pytest.raises(ValueError, match=r"two.patch: it changes nothing"):
        patching.read_changes()


def test_every_patch_begins_with_its_reason():
    for patch in patching.PATCHES.iterdir():
        reason, _, _ = patch.read_text().partition("\n\n--- a/")
        assert patch.suffix == ".patch" and reason.endswith(".") and len(reason) > 40, patch.name


@pytest.mark.long  # fetches the source
@pytest.mark.may_skip
def test_the_patched_sources_are_those_of_the_wheel_that_the_tests_know(tmp_path):
    try:
        source = build.fetch(tmp_path, Steps(tmp_path / "log", tmp_path / "tools"))
    except CannotBuild as reason:
        pytest.skip(str(reason))
    changes = patching.read_changes()
    patching.apply_changes(source, changes)
    assert {name: hashlib.sha256((source / name).read_bytes()).hexdigest() for name in changes} == PATCHED_SOURCES
