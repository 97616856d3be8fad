"""Data sets come by name, checked, in plain arrays."""

import subprocess
import sys

import numpy as np
import pytest

from course import data
from course.errors import Problem


@pytest.mark.parametrize("name", sorted(data.registry()))
def test_every_registered_set_loads_with_its_columns_and_rows(name, capsys):
    entry = data.registry()[name]
    columns = data.load(name)
    assert list(columns) == list(entry["columns"])
    for values in columns.values():
        assert values.dtype == np.float64
        assert values.shape == (entry["rows"],)
        assert np.isfinite(values).all()
    printed = capsys.readouterr().out.splitlines()
    assert len(printed) == 1
    assert entry["package"] in printed[0]


@pytest.mark.parametrize("name", sorted(data.registry()))
def test_every_registered_set_has_a_card_that_names_its_columns(name):
    card = (data.REGISTRY.parent / f"{name}.md").read_text(encoding="utf-8")
    assert all(f"`{column}`" in card for column in data.registry()[name]["columns"])


def test_engel_holds_the_published_numbers():
    engel = data.load("engel")
    assert engel["income"][0] == pytest.approx(420.157650843928, abs=0)
    assert engel["foodexp"][0] == pytest.approx(255.839424594576, abs=0)
    slope, intercept = np.polyfit(engel["income"], engel["foodexp"], 1)
    assert slope == pytest.approx(0.485, abs=5e-4)
    assert intercept == pytest.approx(147.475, abs=5e-3)


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(Problem, match=r"no data set 'engels'; there are: .*engel.*randhie"):
        data.load("engels")


def _with_registry(tmp_path, monkeypatch, **changes):
    entry = {**data.registry()["engel"], **changes}
    monkeypatch.setattr(data, "registry", lambda: {"engel": entry})


def test_a_changed_file_is_refused(tmp_path, monkeypatch):
    _with_registry(tmp_path, monkeypatch, sha256="0" * 64)
    with pytest.raises(Problem, match="not the registered one"):
        data.load("engel")


@pytest.mark.parametrize("change", [{"package": "no_such_package_here"}, {"path": "datasets/engel/none.csv"}])
def test_a_missing_package_or_file_says_what_to_install(change, tmp_path, monkeypatch):
    _with_registry(tmp_path, monkeypatch, **change)
    with pytest.raises(Problem, match="pip install"):
        data.load("engel")


def test_loading_does_not_import_the_package_that_carries_the_data():
    code = "import sys; from course import data; data.load('engel'); "
    code += "assert not {'statsmodels', 'pandas', 'matplotlib'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
