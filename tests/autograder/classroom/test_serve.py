"""What keeps a class from being served is one sentence that says what to do."""

import asyncio
import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from subprocess import PIPE
from types import SimpleNamespace

import psutil
import pytest
from traitlets.config import Config

from autograder.classroom import hub, serve, spawner
from autograder.classroom.folder import Folder
from autograder.examination import sandbox
from autograder.testing.classroom import Student, need_proxy, serving
from course.command import main


def test_a_port_that_is_taken_is_named_with_the_place_to_change_it(tmp_path, capsys):
    need_proxy()
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        folder = Folder(tmp_path / "ml")
        folder.prepare()
        folder.settings.write_text(f"port = {port}\n[accounts]\nkind = 'csv'\n")
        assert main(["classroom", str(folder.root)]) == 1
    assert f"port {port} is taken" in (error := capsys.readouterr().err) and str(folder.settings) in error


@pytest.mark.parametrize(
    ("program", "words"),
    [
        ("configurable-http-proxy", "apt install node-configurable-http-proxy"),
        ("bwrap", "install the package bubblewrap"),
    ],
)
def test_a_missing_program_is_named_with_its_package(monkeypatch, capsys, tmp_path, program, words):
    def which(name):
        return None if name == program else f"/usr/bin/{name}"

    sandbox.why_unavailable.cache_clear()
    monkeypatch.setattr("shutil.which", which)
    try:
        assert main(["classroom", str(tmp_path / "ml")]) == 1
    finally:
        sandbox.why_unavailable.cache_clear()
    assert words in capsys.readouterr().err


def test_accounts_of_this_machine_need_root(monkeypatch, capsys, tmp_path):
    folder = Folder(tmp_path / "ml")
    folder.prepare()
    folder.settings.write_text("[accounts]\nkind = 'pam'\n")
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert main(["classroom", str(folder.root)]) == 1
    assert "accounts of the kind pam need a Hub that runs as root" in capsys.readouterr().err


def test_a_setting_that_slipped_into_accounts_is_named(capsys, tmp_path):
    folder = Folder(tmp_path / "ml")
    folder.prepare()
    folder.settings.write_text("[accounts]\nkind = 'csv'\naddress = '0.0.0.0'\n")
    assert main(["classroom", str(folder.root)]) == 1
    assert "the settings of the class stand above [accounts]" in capsys.readouterr().err


def test_two_commands_do_not_serve_one_folder(tmp_path, capsys):
    folder = Folder(tmp_path / "ml")
    folder.prepare()
    with (
        serve.lock(folder),
        pytest.raises(serve.Problem, match="another `course classroom` serves"),
        serve.lock(folder),
    ):
        pass


def test_a_class_that_is_served_already_is_named_and_not_its_port(tmp_path, capsys):
    need_proxy()
    folder = Folder(tmp_path / "ml")
    folder.prepare()
    with socket.create_server(("127.0.0.1", 0)) as other, serve.lock(folder):
        folder.settings.write_text(f"port = {other.getsockname()[1]}\n[accounts]\nkind = 'csv'\n")
        assert main(["classroom", str(folder.root)]) == 1
    assert "another `course classroom` serves" in capsys.readouterr().err


def test_an_address_that_is_not_this_machines_is_named():
    with pytest.raises(serve.Problem, match=r"no program can listen at the address '192\.0\.2\.1'"):
        hub.is_free("192.0.2.1", 8000)


def test_an_address_of_ipv6_has_brackets_in_urls(tmp_path):
    folder = Folder(tmp_path / "ml")
    folder.prepare()
    folder.settings.write_text("address = '::1'\n[accounts]\nkind = 'csv'\n")
    assert serve.read(folder).url == "http://[::1]:8000"


@pytest.mark.parametrize(("kind", "is_revoked"), [("csv", True), ("pam", True), ("oidc", False)])
def test_who_is_no_longer_named_as_an_instructor_is_none_after_the_next_start(tmp_path, kind, is_revoked):
    folder = Folder(tmp_path / "ml")
    folder.prepare()
    folder.settings.write_text(f"instructors = ['grace']\n[accounts]\nkind = '{kind}'\n")
    config = Config()
    hub.configure_services(config, serve.read(folder), {"board": 1, "formgrader": 2})
    admins = [each for each in config.JupyterHub.load_roles if each["name"] == "admin"]
    assert admins == ([{"name": "admin", "users": ["grace"]}] if is_revoked else [])


def test_a_server_that_ended_keeps_its_route_for_seconds_only(tmp_path, monkeypatch):
    folder, config = Folder(tmp_path / "ml"), Config()
    folder.prepare()
    for name in ("limits", "queue", "starts"):  # they are set for the whole process
        monkeypatch.setattr(spawner.ClassSpawner, name, None)
    hub.configure_servers(config, folder, serve.read(folder))
    spawner.ClassSpawner.queue.stop()
    assert 0 < spawner.ClassSpawner(config=config).poll_interval <= 5


def test_ports_stay_the_same_from_start_to_start(tmp_path):
    folder = Folder(tmp_path / "ml")
    folder.prepare()
    settings = serve.read(folder)
    ports = hub.prepare_ports(folder, settings)
    assert hub.prepare_ports(folder, settings) == ports and len(set(ports.values())) == len(hub.PORTS)


def test_a_home_keeps_its_user_id_and_a_new_one_gets_a_free_one(tmp_path):
    if os.geteuid() != 0:
        pytest.skip("only root gives students user ids")
    folder = Folder(tmp_path / "ml")
    folder.prepare()
    users = [spawner.prepare_home(folder, name) for name in ("ada", "bob", "ada")]
    assert users[0] == users[2] != users[1] and folder.home("ada").stat().st_uid == users[0]
    assert {path.stat().st_uid for path in folder.home("bob").rglob("*")} == {users[1]}
    assert folder.inbox("bob").stat().st_mode & 0o777 == 0o700


def test_no_student_gets_a_user_id_of_this_machine_and_an_inbox_is_always_the_students(tmp_path):
    if os.geteuid() != 0:
        pytest.skip("only root gives students user ids")
    folder = Folder(tmp_path / "ml")
    folder.prepare()
    ada = spawner.prepare_home(folder, "ada")
    os.chown(folder.inbox("ada"), 0, 0)  # as if the Hub had been killed before it gave the inbox to ada
    assert spawner.prepare_home(folder, "ada") == ada == folder.inbox("ada").stat().st_uid
    os.chown(folder.home("ada"), 0, 0)  # as after a copy
    with pytest.raises(serve.Problem, match=rf"belongs to the user id 0, .*: chown -hR {ada}:{ada} "):
        spawner.prepare_home(folder, "ada")


def test_a_server_that_calls_itself_like_its_sandbox_can_be_stopped(monkeypatch):
    code = "import ctypes; ctypes.CDLL(None).prctl(15, b'sh', 0, 0, 0); print(flush=True); input()"
    with subprocess.Popen([sys.executable, "-c", code], stdin=PIPE, stdout=PIPE) as process:
        process.stdout.readline()
        server = SimpleNamespace(pid=process.pid)

        async def poll():
            return process.poll()

        async def wait_for_death(seconds):
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(1)

        server.poll, server.wait_for_death = poll, wait_for_death
        asyncio.run(spawner.ClassSpawner.stop(server))
        assert process.poll() == -signal.SIGKILL


def test_a_process_that_took_over_a_servers_number_is_not_the_server():
    own, started = os.getpid(), spawner.read_start(os.getpid())
    assert spawner.is_running(own, started)
    assert not spawner.is_running(own, started - 100)
    assert not spawner.is_running(2**22 - 1, 0)


def test_a_server_is_found_again_after_somebody_set_the_clock(monkeypatch):
    own, started, before = os.getpid(), spawner.read_start(os.getpid()), psutil.Process().create_time()
    monkeypatch.setattr("psutil._pslinux.boot_time", lambda: 0.0)
    assert psutil.Process().create_time() != before
    assert spawner.is_running(own, started)


def test_a_new_hub_waits_for_the_leaderboard_of_one_that_was_killed(tmp_path):
    settings = SimpleNamespace(board=tmp_path / "board", class_=tmp_path / "class")
    code = "import time; print(flush=True); time.sleep(1)"
    command = [sys.executable, "-c", code, "course.command", "board", str(settings.board)]
    with subprocess.Popen(command, stdout=PIPE) as process:
        process.stdout.readline()
        serve.wait_for_services(settings)
        assert process.poll() == 0


@pytest.mark.long
def test_a_proxy_that_is_killed_comes_back_and_a_class_that_gives_up_leaves_servers_to_the_next_start(tmp_path):
    with serving(tmp_path / "ml", ["ada,first-of-ada"]) as class_:
        ada = Student(class_.url, "ada")
        ada.log_in("first-of-ada")
        ada.start()
        ada.run("kept = 42")
        class_.note_processes()
        proxy = class_.find_proxy()
        time.sleep(max(0, proxy.create_time() + 3 + serve.SHORTEST - time.time()))  # 3: that time is inexact

        proxy.kill()
        class_.wait_for("The class: ", count=2)
        assert class_.log.read_text().count("The proxy ended") == 1
        assert ada.run("print(kept)").strip() == "42"

        while class_.process.poll() is None:  # no proxy lives for long, as where memory is short
            with contextlib.suppress(psutil.Error, StopIteration):
                class_.find_proxy().kill()
            time.sleep(0.1)
        assert "the Hub or its proxy ended by itself" in class_.log.read_text()

        class_.start()
        assert ada.run("print(kept)").strip() == "42"
