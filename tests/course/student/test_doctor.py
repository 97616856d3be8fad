"""`course doctor` reports in words, only what it tried, and without touching the engines of a notebook."""

import argparse
import json
import subprocess
import webbrowser

import pytest

from autograder.testing.browser import need_chromium
from course.student import doctor


@pytest.fixture(scope="module")
def report():
    return doctor.check()


@pytest.fixture
def nothing_installed(monkeypatch):
    monkeypatch.setattr(doctor, "run_program", lambda *_: None)
    monkeypatch.setattr(doctor, "find_version", lambda _: None)
    monkeypatch.setattr(doctor.installation, "find_parts", list)


@pytest.mark.long
def test_it_starts_two_engines_and_reports_the_seconds(report):
    (engines,) = (finding for finding in report if finding.what == "engines")
    assert engines.state == "works"
    assert engines.found.startswith("two started and answered in ")


def test_every_state_is_in_words_and_an_absent_thing_says_how_to_get_it(report):
    assert {finding.state for finding in report} <= {"works", "missing", "not needed yet"}
    assert all(bool(finding.get) == (finding.state != "works") for finding in report)


def test_everything_that_the_labs_need_is_there(report):
    (horovod,) = (finding for finding in report if finding.what == "Horovod")
    all_there = "have all they need." if horovod.state == "works" else "can begin. Of these, lab 06 also needs Horovod."
    assert str(report).endswith(all_there)
    assert [f.what for f in report][:6] == ["Python", "cores", "memory", "disk", "engines", "carriers"]
    assert {"GPUs", "MPI", "Horovod", "Spark", "sandbox", "browser"} <= {finding.what for finding in report}


def test_the_verdict_names_the_labs_of_the_course(monkeypatch, tmp_path):
    assert all(lab.name[:2] in doctor.name_labs() for lab in doctor.LABS.glob("[0-9]*"))
    monkeypatch.setattr(doctor, "LABS", tmp_path)
    assert doctor.name_labs() == "The labs"
    for name, words in (("02-b", "The labs 02"), ("01-a", "Labs 01 and 02"), ("04-c", "Labs 01, 02 and 04")):
        (tmp_path / name).mkdir()
        assert doctor.name_labs() == words


def test_torch_is_named_with_its_version_and_engines_with_the_way_they_start(report, nothing_installed):
    (torch,) = (finding for finding in report if finding.what == "torch")
    assert torch.found.startswith("version 2.")
    (engines,) = (finding for finding in report if finding.what == "engines")
    assert engines.found.endswith(tuple(doctor.STARTS.values()))
    assert doctor.check_torch().state == "missing"


def test_tensorflow_is_named_with_its_keras(report, nothing_installed):
    (tensorflow,) = (finding for finding in report if finding.what == "tensorflow")
    assert tensorflow.found.startswith("version 2.") and "Keras 3." in tensorflow.found
    assert doctor.check_tensorflow().state == "missing"


def test_a_message_crosses_by_every_carrier(report):
    (carriers,) = (finding for finding in report if finding.what == "carriers")
    assert carriers.found == f"a message crossed by {', '.join(doctor.list_usable().values())}"


def test_a_carrier_that_does_not_work_is_named_with_its_reason(monkeypatch):
    monkeypatch.setattr(doctor, "list_usable", lambda: {"simulated": "simulated ranks", "pigeon": "pigeons"})
    finding = doctor.check_carriers()
    assert finding.state == "not needed yet" and finding.get
    assert "by simulated ranks; not by pigeons: carrier='pigeon'" in finding.found


def test_a_notebook_shows_a_table_with_headings_and_a_terminal_the_same_words(report):
    page = report._repr_html_()
    assert page.count("<th scope='row'") == len(report)
    assert all(finding.found in str(report) for finding in report)
    assert repr(report) == str(report)


def test_an_absent_thing_that_labs_begin_without_is_not_needed_yet(nothing_installed):
    for check in (doctor.check_gpus, doctor.check_mpi, doctor.check_horovod, doctor.check_sandbox):
        finding = check()
        assert finding.state == "not needed yet"
        assert "not " in finding.found or "fails" in finding.found
        assert finding.get


def test_gpus_are_named_as_nvidia_smi_names_them(monkeypatch):
    one = "NVIDIA H200, 143771 MiB"
    monkeypatch.setattr(doctor, "run_program", lambda *_: one)
    assert doctor.check_gpus().found == f"{one}: every engine sees it"
    monkeypatch.setattr(doctor, "run_program", lambda *_: f"{one}\n{one}")
    assert doctor.check_gpus().found == f"{one}; {one}: engine i sees GPU i modulo 2"


def test_engines_that_do_not_start_are_missing_and_the_command_fails(monkeypatch, capsys):
    monkeypatch.setattr(doctor, "TRY_ENGINES", "raise OSError('no more processes')")
    broken = doctor.MachineReport([doctor.check_python(), doctor.check_engines()])
    monkeypatch.setattr(doctor, "check", lambda: broken)
    assert broken[1].found == "two engines did not start: OSError: no more processes"
    assert doctor.run(argparse.Namespace(json=False)) == 1
    assert capsys.readouterr().out.endswith(" cannot run yet. Missing: engines.\n")


def test_engines_that_hang_are_missing(monkeypatch):
    monkeypatch.setattr(doctor, "PATIENCE", 0.5)
    monkeypatch.setattr(doctor, "TRY_ENGINES", "import time; time.sleep(60)")
    assert doctor.check_engines().state == "missing"


def test_json_has_one_object_per_line(report, monkeypatch, capsys):
    monkeypatch.setattr(doctor, "check", lambda: report)
    assert doctor.run(argparse.Namespace(json=True)) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [set(line) for line in lines] == [{"what", "state", "found", "get"}] * len(report)


def test_a_program_that_fails_or_hangs_counts_as_absent(monkeypatch):
    assert doctor.run_program("false") is None
    assert doctor.run_program("no-such-program") is None
    assert doctor.run_program("echo", "here") == "here"

    def hang(*_, **__):
        raise subprocess.TimeoutExpired("echo", 30)

    monkeypatch.setattr(subprocess, "run", hang)
    assert doctor.run_program("echo", "here") is None


def test_horovod_is_named_with_its_frameworks_or_with_how_to_get_it(monkeypatch):
    monkeypatch.setattr(doctor.installation, "find_parts", lambda: ["torch", "tensorflow"])
    finding = doctor.check_horovod()
    assert finding.state == "works" and finding.found.startswith("version 0.28.1 for PyTorch 2.")
    assert " and TensorFlow 2." in finding.found
    assert finding.found.endswith(
        "under horovodrun a program must call hvd.init() only once, since a second call may abort"
    )
    monkeypatch.setattr(doctor.installation, "find_parts", list)
    monkeypatch.setattr(doctor.installation, "find_missing_tools", lambda: "g++ is missing here")
    finding = doctor.check_horovod()
    assert finding.state == "not needed yet" and finding.found.endswith("lab 06 needs it")
    assert finding.get == "make lab builds it from source; g++ is missing here"


def test_spark_is_named_with_its_java_or_with_how_to_get_it(monkeypatch):
    monkeypatch.setattr(doctor.spark, "list_missing", dict)
    monkeypatch.setattr(doctor.spark, "find_java", lambda: "17.0.15")
    monkeypatch.setattr(doctor, "find_version", lambda _: "4.3.0")
    assert doctor.check_spark() == doctor.Finding("Spark", "works", "pyspark 4.3.0 with Java 17.0.15")
    monkeypatch.setattr(doctor.spark, "list_missing", lambda: {"Java 17 or newer": "install a package"})
    finding = doctor.check_spark()
    assert finding.state == "not needed yet" and finding.get == "install a package"
    assert finding.found == "Java 17 or newer not found; further steps of lab 14 need it"


def test_a_browser_is_found_where_there_is_no_screen_and_a_short_path(monkeypatch, tmp_path):
    need_chromium()
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(webbrowser, "_tryorder", None)  # asked anew, as in a new process
    monkeypatch.setattr(webbrowser, "_browsers", {})
    browser = doctor.check_browser()
    assert browser.state == "works" and "Chromium" in browser.found and "without a screen" in browser.found
