"""`course lab`: what it copies to work/, and a real JupyterLab that stops with everything started in it."""

import contextlib
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import time
import urllib.request

import psutil
import pytest
import websocket

from autograder.testing.mini_course import make_command, make_environment, write_lab, write_mini_course
from autograder.testing.mini_lab import LAB, MINI
from course.errors import Problem
from course.student import lab, work

FIRST = "01-regression/01-regression.ipynb"


@pytest.fixture
def home(tmp_path):
    return write_mini_course(tmp_path / "home")


def edit(path, words="x = 2"):
    """Edit a cell as a student does; like JupyterLab, this rewrites the whole file."""
    path.write_text(path.read_text().replace("x = 1", words))


# What is put into work/


def test_missing_labs_are_copied_to_work_and_a_second_start_says_nothing(home):
    assert work.prepare(home) == ["New in work/: 01-regression, 02-sgd, index."]
    assert (home / "work" / FIRST).read_bytes() == (home / "labs" / FIRST).read_bytes()
    assert work.prepare(home) == []


def test_a_new_lab_of_the_course_is_added(home):
    work.prepare(home)
    write_lab(home / "labs" / "03-ring" / "03-ring.ipynb", "x = 1")
    assert work.prepare(home) == ["New in work/: 03-ring."]


def test_a_lab_that_nobody_has_begun_is_updated(home):
    work.prepare(home)
    write_lab(home / "labs" / FIRST, "x = 1  # clearer")
    assert len(work.prepare(home)) == 1
    assert (home / "work" / FIRST).read_bytes() == (home / "labs" / FIRST).read_bytes()
    assert work.prepare(home) == []


def test_running_and_saving_a_lab_without_editing_it_does_not_begin_it(home):
    work.prepare(home)
    notebook = json.loads((home / "work" / FIRST).read_text())
    notebook["metadata"]["language_info"] = {"name": "python"}
    notebook["cells"][0]["execution_count"] = 3
    (home / "work" / FIRST).write_text(json.dumps(notebook))
    write_lab(home / "labs" / FIRST, "x = 1  # clearer")
    work.prepare(home)
    assert (home / "work" / FIRST).read_bytes() == (home / "labs" / FIRST).read_bytes()


def test_a_begun_lab_stays_and_its_new_version_is_put_beside_once(home):
    work.prepare(home)
    mine = home / "work" / FIRST
    edit(mine)
    assert work.prepare(home) == []
    begun = mine.read_bytes()
    write_lab(home / "labs" / FIRST, "x = 1  # clearer")
    (sentence,) = work.prepare(home)
    assert "01-regression.new.ipynb" in sentence
    assert mine.read_bytes() == begun
    beside = mine.with_name("01-regression.new.ipynb")
    assert beside.read_bytes() == (home / "labs" / FIRST).read_bytes()
    assert work.prepare(home) == []
    beside.unlink()
    assert work.prepare(home) == [], "a file that a student deleted does not come back"


def test_a_new_version_in_which_the_student_has_written_is_never_overwritten(home):
    work.prepare(home)
    mine = home / "work" / FIRST
    edit(mine)
    write_lab(home / "labs" / FIRST, "x = 1  # second")
    work.prepare(home)
    write_lab(home / "labs" / FIRST, "x = 1  # third")
    work.prepare(home)
    beside = mine.with_name("01-regression.new.ipynb")
    assert "third" in beside.read_text(), "untouched, so updated"
    edit(beside, "x = 5")
    theirs = beside.read_bytes()
    write_lab(home / "labs" / FIRST, "x = 1  # fourth")
    assert "01-regression.new-2.ipynb" in work.prepare(home)[0]
    assert beside.read_bytes() == theirs
    assert "fourth" in mine.with_name("01-regression.new-2.ipynb").read_text()


@pytest.mark.parametrize("memory", ["", "{", "[1]", '{"01-regression/01-regression.ipynb": 3}', None])
def test_without_a_readable_memory_no_file_is_lost(home, memory):
    work.prepare(home)
    edit(home / "work" / FIRST)
    begun = (home / "work" / FIRST).read_bytes()
    path = home / "work" / work.MEMORY
    path.unlink() if memory is None else path.write_text(memory)
    write_lab(home / "labs" / FIRST, "x = 1  # clearer")
    work.prepare(home)
    assert (home / "work" / FIRST).read_bytes() == begun
    assert work.prepare(home) == []


def test_a_students_file_that_is_no_longer_a_notebook_is_kept(home):
    work.prepare(home)
    (home / "work" / FIRST).write_text('{"cells": [')
    write_lab(home / "labs" / FIRST, "x = 1  # clearer")
    work.prepare(home)
    assert (home / "work" / FIRST).read_text() == '{"cells": ['


def test_a_deleted_lab_comes_back_as_given(home):
    work.prepare(home)
    (home / "work" / FIRST).unlink()
    assert work.prepare(home) == ["New in work/: 01-regression."]


def test_a_course_without_labs_or_with_a_file_in_the_way_is_one_sentence(home, tmp_path):
    (home / "work").write_text("in the way")
    with pytest.raises(Problem, match="cannot be used"):
        work.prepare(home)
    with pytest.raises(Problem, match=r"no index\.ipynb"):
        work.prepare(tmp_path / "nowhere")


# The server


def test_if_all_ports_are_taken_one_sentence_says_so(monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        monkeypatch.setattr(lab, "PORTS", range(taken.getsockname()[1], taken.getsockname()[1] + 1))
        with pytest.raises(Problem, match="are all taken: stop a JupyterLab"):
            next(lab.find_free_ports())


@pytest.mark.long
def test_two_that_start_at_the_same_moment_get_a_port_each(home, tmp_path_factory):
    homes = [home, shutil.copytree(home, tmp_path_factory.mktemp("other") / "home")]
    started = [
        subprocess.Popen(make_command("lab"), cwd=each, env=make_environment(each), stdout=subprocess.PIPE, text=True)
        for each in homes
    ]
    try:
        urls = [next(line for line in process.stdout if "token=" in line) for process in started]
    finally:
        for process in started:
            process.terminate()
        codes = [process.wait(60) for process in started]
    ports = [re.search(r":(\d+)/", url)[1] for url in urls]
    assert ports[0] != ports[1] and codes == [0, 0]


@pytest.mark.long
def test_horovod_is_built_while_jupyterlab_runs_and_the_build_ends_with_it(home, tmp_path):
    other = tmp_path / "packages" / "horovod-0.dist-info"  # Python finds this one first
    other.mkdir(parents=True)
    (other / "METADATA").write_text("Metadata-Version: 2.1\nName: horovod\nVersion: 0\n")
    path = f"{other.parent}{os.pathsep}{home}"
    with running(home, "--horovod", PYTHONPATH=path, XDG_CACHE_HOME=tmp_path / "cache") as (process, server):
        wait_for(lambda: "Horovod: building it from source" in (home / "out").read_text())
        assert server.ask("/api/status")["kernels"] == 0
        builders = [each for each in psutil.Process(process.pid).children() if "course.horovod.build" in each.cmdline()]
        below = [each for builder in builders for each in [builder, *builder.children(recursive=True)]]
        os.killpg(process.pid, signal.SIGINT)
        assert process.wait(60) == 0
    assert builders and not psutil.wait_procs(below, timeout=10)[1]
    assert "Horovod: the build was stopped. The next `make lab` starts it again." in (home / "out").read_text()


@contextlib.contextmanager
def running(home, *words, **variables):
    """Run `course lab` with `words` in `home` until its URL is printed; terminate it at the end if the test did not."""
    log = (home / "out").open("w")
    process = subprocess.Popen(
        make_command("lab", *words),
        cwd=home,
        env=make_environment(home, **variables),
        stdout=log,
        stderr=log,
        start_new_session=True,
    )
    try:
        wait_for(lambda: "token=" in (home / "out").read_text() or process.poll() is not None)
        yield process, Server(home)
    finally:
        if process.poll() is None:
            process.terminate()
            process.wait(60)


class Server:
    """Sends the requests of a browser to the server, without a browser."""

    def __init__(self, home):
        self.port, self.token = re.search(r":(\d+)/\S*token=(\w+)", (home / "out").read_text()).groups()

    def ask(self, path, content=None):
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}?token={self.token}")
        data = None if content is None else json.dumps(content).encode()
        with urllib.request.urlopen(request, data, timeout=30) as answer:
            return json.loads(answer.read())

    def run_in_a_kernel(self, code):
        """Start a kernel and send it a cell; returns the open channel."""
        kernel = self.ask("/api/kernels", {"name": "python3"})["id"]
        url = f"ws://127.0.0.1:{self.port}/api/kernels/{kernel}/channels?token={self.token}"
        channel = websocket.create_connection(url, timeout=30)
        header = {"msg_id": "1", "msg_type": "execute_request", "session": "1", "username": "", "version": "5.3"}
        content = {"code": code, "silent": False, "store_history": True, "user_expressions": {}, "allow_stdin": False}
        message = {"header": header, "parent_header": {}, "metadata": {}, "content": content}
        channel.send(json.dumps(message | {"channel": "shell", "buffers": []}))
        return channel


def wait_for(condition):
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline, "the condition never became true"
        time.sleep(0.05)


def processes_of(home):
    """The command lines of all processes with this test's environment, including detached children of the kernel."""
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            if process.status() != psutil.STATUS_ZOMBIE and process.environ().get("PYTHONPATH") == str(home):
                found.append(" ".join(process.cmdline()))
    return found


@pytest.mark.parametrize("number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.long)])
def test_stopping_course_lab_stops_everything_that_was_started_in_it(home, number):
    started = "import subprocess, time\n"
    started += "subprocess.Popen(['sleep', '1001'])\n"  # a child
    again = 'trap "" TERM HUP INT; while :; do sleep 1002; done'  # killing one sleep starts another
    started += f"subprocess.Popen(['sh', '-c', '{again}'], start_new_session=True)\n"
    started += "subprocess.run(['sh', '-c', 'setsid sleep 1004 &'])\n"  # detached, so not a child
    with running(home) as (process, server):
        channel = server.run_in_a_kernel(started + "time.sleep(1000)")  # and a cell that is still running
        wait_for(lambda: sum("sleep 100" in line for line in processes_of(home)) >= 4)
        channel.close()
        os.kill(process.pid, number)
        assert process.wait(60) == 0
    assert processes_of(home) == []
    assert "Traceback" not in (home / "out").read_text()


def test_it_listens_on_this_machine_only_names_its_port_and_offers_the_board_to_an_instructor(home):
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(OSError):  # already taken, which is as good
            stack.enter_context(socket.create_server(("127.0.0.1", lab.PORTS[0])))
        process, server = stack.enter_context(running(home))
        output = (home / "out").read_text()
        assert f"so this JupyterLab uses port {server.port}" in output
        assert "`course board FOLDER` starts the leaderboard" in output  # the grader can be imported here
        addresses = set()
        for child in psutil.Process(process.pid).children(recursive=True):
            with contextlib.suppress(psutil.NoSuchProcess):  # some live for a moment only
                listening = [each for each in child.net_connections("tcp") if each.status == psutil.CONN_LISTEN]
                addresses.update(each.laddr.ip for each in listening)
        assert addresses == {"127.0.0.1"}
        assert {entry["name"] for entry in server.ask("/api/contents")["content"]} >= {"index.ipynb", "01-regression"}
        os.kill(process.pid, signal.SIGHUP)  # the terminal was closed
        assert process.wait(60) == 0
    assert processes_of(home) == []


@pytest.mark.long
def test_an_author_opens_the_solved_lab(home):
    shutil.copytree(MINI, home / "solutions")
    with running(home, "--solved", LAB) as (_, server):
        assert f"/lab/tree/solved/{LAB}/{LAB}.ipynb?token=" in (home / "out").read_text()
        cells = server.ask(f"/api/contents/solved/{LAB}/{LAB}.ipynb")["content"]["cells"]
    assert any("### BEGIN SOLUTION" in cell["source"] for cell in cells)


def test_a_server_that_does_not_start_is_one_sentence(home):
    settings = make_environment(home, JUPYTER_CONFIG_DIR=home / "broken")
    (home / "broken").mkdir()
    (home / "broken" / "jupyter_server_config.py").write_text("raise SystemExit(3)")
    done = subprocess.run(make_command("lab"), cwd=home, env=settings, capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr.startswith("course lab: JupyterLab did not start: the reason is at the end of ")
    assert len(done.stderr.splitlines()) == 1
