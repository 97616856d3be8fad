"""What lab.toml says about a lab, and how its mistakes are reported."""

import nbformat
import pytest

from autograder.labs import build, expectations, source
from course.errors import Problem

GOOD = """
pictures = 3

[hand-ins.full]
points = 5

[hand-ins.part]
points = 2
only = ["add"]

[hand-ins.syntax]
points = 3
replace.add = "def broken(:"

[hand-ins.deleted]
points = 3
delete = ["add", "add-check"]

[hand-ins.text]
points = 0
text = "I did it on paper."
"""


@pytest.fixture
def read(monkeypatch, tmp_path):
    """A function: text of lab.toml -> the Expectations in it."""
    monkeypatch.setattr(source, "SOLUTIONS", tmp_path)

    def read(text):
        (tmp_path / "00-mini").mkdir(exist_ok=True)
        (tmp_path / "00-mini" / "lab.toml").write_text(text)
        return expectations.read("00-mini")

    return read


def test_a_sample_hand_in_holds_what_lab_toml_says(read, mini):
    expected = read(GOOD)
    assert expected.pictures == 3
    assert {name: sample.points for name, sample in expected.hand_ins.items()} == {
        "full": 5, "part": 2, "syntax": 3, "deleted": 3, "text": 0,
    }  # fmt: skip
    contents = {name: sample.content(mini.release, mini.solution) for name, sample in expected.hand_ins.items()}
    assert contents.pop("text") == b"I did it on paper."
    cells = {
        name: {cell.id: cell.source for cell in nbformat.reads(content.decode(), as_version=4).cells}
        for name, content in contents.items()
    }
    assert cells["full"]["add"] == mini.work["add"] and cells["full"]["descend"] == mini.work["descend"]
    assert cells["part"]["add"] == mini.work["add"] and cells["part"]["descend"] == "pass"
    assert cells["syntax"]["add"] == "def broken(:" and cells["syntax"]["descend"] == mini.work["descend"]
    assert not {"add", "add-check"} & cells["deleted"].keys() and "descend" in cells["deleted"]
    assert all("HIDDEN" not in text for text in cells["full"].values())


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("pictures = 3", "pictures = ", "not valid TOML"),
        ("pictures = 3", "", "`pictures` must be a number"),
        ("pictures", "images", "no key `images`"),
        ("[hand-ins.full]", "[hand-ins.whole]", r"\[hand-ins.full\].*is missing"),
        ('only = ["add"]', 'just = ["add"]', r"\[hand-ins.part\] has no key `just`"),
        ('only = ["add"]', "only = [1]", r"`only` of \[hand-ins.part\] has the wrong type"),
        ('replace.add = "def broken(:"', 'replace = "add"', r"`replace` of \[hand-ins.syntax\] has the wrong type"),
        ('points = 0\ntext = "I', 'text = "I', r"\[hand-ins.text\] needs `points`"),
    ],
)
def test_a_mistake_in_lab_toml_is_reported_with_the_file(read, old, new, words):
    assert old in GOOD
    with pytest.raises(Problem, match=f"00-mini/lab.toml.*{words}"):
        read(GOOD.replace(old, new, 1))


def test_a_missing_lab_toml_is_reported(read, tmp_path):
    read(GOOD)
    (tmp_path / "00-mini" / "lab.toml").unlink()
    with pytest.raises(Problem, match=r"00-mini/lab\.toml is missing"):
        expectations.read("00-mini")


@pytest.mark.parametrize("lab", source.lab_names())
def test_what_lab_toml_expects_fits_the_lab(lab):
    solution = build.solved(lab)
    expected = expectations.read(lab)
    checks = filter(source.is_check, solution.cells)
    points = sum(source.nbgrader(cell)["points"] + source.extra_points(cell) for cell in checks)
    assert expected.hand_ins["full"].points == points
    cells = {cell.id for cell in solution.cells}
    for sample in expected.hand_ins.values():
        assert sample.names() <= cells
