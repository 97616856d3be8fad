"""The board as a service of a real JupyterHub, behind its real proxy: the Hub's users need not join."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import httpx
import psutil
import pytest

from autograder.competition.leaderboard.web.hub import is_service, prefix
from autograder.testing.board_process import find_free_port, write_board_toml
from autograder.testing.browser import start_chromium
from autograder.testing.entry_notebooks import make_entry_notebook
from autograder.testing.maps import make_nearest_mean_map, to_npy
from course.competition import scene
from course.home import HOME

PATIENCE = 90  # seconds
CONFIG = """
c.JupyterHub.bind_url = "http://127.0.0.1:{ports[0]}/base"
c.JupyterHub.hub_port = {ports[1]}
c.ConfigurableHTTPProxy.api_url = "http://127.0.0.1:{ports[2]}"
c.JupyterHub.authenticator_class = "dummy"
c.DummyAuthenticator.allow_all = True
c.DummyAuthenticator.admin_users = {{"teacher"}}
c.JupyterHub.spawner_class = "simple"
c.SimpleLocalProcessSpawner.home_dir_template = {homes!r}
c.Spawner.cmd = [{python!r}, "-m", "jupyterhub.singleuser", "--allow-root"]
c.Spawner.server_token_scopes = [
    "users:activity!user", "access:servers!server", "access:services!service=board",
]
c.JupyterHub.load_groups = {{
    "Team A": {{"users": ["ada", "bob"]}},
    "dora": {{"users": ["emmy"]}},
    "Team B": {{"users": ["fritz"]}},
    "Team C": {{"users": ["fritz"]}},
    "nbgrader-ml": {{"users": ["ada", "carl"]}},
}}
c.JupyterHub.load_roles = [{{
    "name": "class",
    "scopes": ["access:services!service=board"],
    "users": ["ada", "bob", "carl", "dora", "emmy", "fritz", "teacher"],
}}]
c.JupyterHub.services = [{{
    "name": "board",
    "url": "http://127.0.0.1:{ports[3]}",
    "command": [{python!r}, "-m", "course.command", "board", {folder!r}],
    "oauth_no_confirm": True,
}}]
"""


@pytest.fixture(scope="module")
def hub(tmp_path_factory):
    """A JupyterHub with a board; its folder and its URL."""
    proxy = shutil.which("configurable-http-proxy")
    if proxy is None:
        pytest.skip("JupyterHub's proxy is not installed: install Debian's package node-configurable-http-proxy")
    folder = tmp_path_factory.mktemp("hub")
    (folder / "board").mkdir()
    write_board_toml(folder / "board")
    ports = [find_free_port() for _ in range(4)]
    config = CONFIG.format(
        ports=ports, python=sys.executable, folder=str(folder / "board"), homes=str(folder / "home" / "{username}")
    )
    (folder / "jupyterhub_config.py").write_text(config)
    # A node that is not Debian's does not search Debian's modules.
    modules = {"NODE_PATH": str(Path(proxy).resolve().parents[2])}
    path = {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "jupyterhub"], cwd=folder, env=os.environ | path | modules, stdout=log, stderr=log,
            start_new_session=True,
        )  # fmt: skip
    url, started = f"http://127.0.0.1:{ports[0]}/base", set()
    try:
        end = time.monotonic() + PATIENCE
        while not answers(f"{url}/services/board/api/standing"):
            assert process.poll() is None and time.monotonic() < end, (folder / "log").read_text()
            started |= below(process)
            time.sleep(0.1)
        started |= below(process)
        yield folder, url
    finally:
        started |= below(process)
        process.send_signal(signal.SIGTERM)
        process.wait(PATIENCE)
        _, left = psutil.wait_procs(started, timeout=10)
        for each in left:
            with contextlib.suppress(psutil.Error):
                each.kill()
    assert not left


def below(process):
    """All processes below a process."""
    with contextlib.suppress(psutil.Error):
        return set(psutil.Process(process.pid).children(recursive=True))
    return set()


def answers(url):
    with contextlib.suppress(httpx.TransportError):
        return httpx.get(url, trust_env=False).status_code == 200


@pytest.fixture(scope="module")
def browser():
    with start_chromium() as browser:
        yield browser


@contextlib.contextmanager
def logged_in(browser, url, name, page="group"):
    """A page of the board that a user opens, which makes the user log in at the Hub."""
    context = browser.new_context()
    tab = context.new_page()
    tab.goto(f"{url}/services/board/{page}")
    tab.click("text=Log in through JupyterHub")
    tab.wait_for_url(f"{url}/hub/login**")
    tab.fill("input[name=username]", name)
    tab.fill("input[name=password]", "any")
    tab.press("input[name=password]", "Enter")
    tab.wait_for_url(f"{url}/services/board/**")
    yield tab
    context.close()


def entry(number=0):
    """The files of an entry."""
    import numpy as np

    rng = np.random.default_rng(number)
    files = {split: (f"{split}.npy", to_npy(make_nearest_mean_map(split, rng))) for split in scene.SPLITS}
    return files | {"notebook": ("09-competition.ipynb", json.dumps(make_entry_notebook("nearest_mean")).encode())}


def token_of(browser, url, name, scopes):
    """A token of the Hub, made as its page for tokens makes it."""
    with logged_in(browser, url, name) as tab:
        tab.goto(f"{url}/hub/token")
        ask = """async ([url, asked]) => (await (await fetch(`${url}?_xsrf=${jhdata.xsrf_token}`, {
            method: "POST", headers: {"Content-Type": "application/json"}, body: JSON.stringify(asked),
        })).json()).token"""
        return tab.evaluate(ask, [f"{url}/hub/api/users/{name}/tokens", {"note": "lab", "scopes": scopes}])


@pytest.mark.long
def test_a_user_who_logs_in_at_the_hub_gets_the_page_of_the_hubs_group(hub, browser):
    _, url = hub
    with logged_in(browser, url, "ada") as tab:
        assert tab.url == f"{url}/services/board/group"
        assert "Team A" in tab.inner_text("main")
        cookies = {each["name"]: each for each in tab.context.cookies()}
        own = cookies["service-board"]
        assert own["httpOnly"] and own["path"] == "/base/services/board/"
        assert not [name for name in cookies if name.startswith("service-board-oauth-state")]
    with logged_in(browser, url, "carl") as tab:  # in no group but nbgrader's
        assert "carl" in tab.inner_text("main")


@pytest.mark.long
def test_members_of_a_group_see_the_same_entries_and_a_user_with_the_groups_name_does_not(hub, browser):
    _, url = hub
    with logged_in(browser, url, "ada") as tab:
        origin = {"Origin": url.removesuffix("/base")}
        form = {
            part: {"name": name, "mimeType": "application/octet-stream", "buffer": content}
            for part, (name, content) in entry().items()
        }
        reply = tab.request.post(
            f"{url}/services/board/api/entries", headers=origin | {"Idempotency-Key": "a"}, multipart=form
        )
        assert reply.status == 201, reply.text()
        foreign = tab.request.post(
            f"{url}/services/board/api/entries/1/choose", headers={"Origin": "http://elsewhere.example"}
        )
        assert foreign.status == 403
    for name, number in (("bob", 1), ("dora", 0), ("emmy", 0)):
        with logged_in(browser, url, name) as tab:
            assert len(tab.request.get(f"{url}/services/board/api/entries").json()["entries"]) == number
    with logged_in(browser, url, "dora") as tab, logged_in(browser, url, "emmy") as other:
        assert "dora" in tab.inner_text("main") and tab.inner_text("main") != other.inner_text("main")


@pytest.mark.long
def test_the_hubs_admin_is_the_instructor_and_nobody_else_is(hub, browser):
    _, url = hub
    with logged_in(browser, url, "teacher", "instructor") as tab:
        assert tab.request.get(f"{url}/services/board/api/settings").json()["per_day"] == 3
        assert tab.url == f"{url}/services/board/instructor"
    with logged_in(browser, url, "ada") as tab:
        assert tab.request.get(f"{url}/services/board/api/settings").status == 403


@pytest.mark.long
def test_a_user_in_two_groups_is_refused_with_their_names(hub, browser):
    _, url = hub
    with logged_in(browser, url, "fritz") as tab:
        assert "Team B, Team C" in tab.inner_text("body")


@pytest.mark.long
def test_the_wall_and_its_events_come_through_the_hubs_proxy_without_a_log_in(hub, browser):
    _, url = hub
    page = browser.new_page()
    broken = []
    page.on("response", lambda reply: broken.append(reply.url) if reply.status >= 400 else None)
    page.goto(f"{url}/services/board/")
    assert "Bench" in page.inner_text("body")
    page.close()
    assert broken == []
    with httpx.stream("GET", f"{url}/services/board/api/events", trust_env=False) as stream:
        assert next(stream.iter_lines()) == "event: standing"


@pytest.mark.long
def test_a_token_of_the_hub_with_the_boards_scope_hands_in_and_others_do_not(hub, browser):
    _, url = hub
    board = f"{url}/services/board/api/entries"
    good = {"Authorization": f"token {token_of(browser, url, 'bob', ['access:services!service=board'])}"}
    reply = httpx.post(board, files=entry(1), headers=good | {"Idempotency-Key": "b"}, trust_env=False)
    assert reply.status_code == 201, reply.text
    poor = {"Authorization": f"token {token_of(browser, url, 'bob', ['read:users!user=bob'])}"}
    refused = httpx.get(board, headers=poor, trust_env=False)
    assert refused.status_code == 403
    for words in ("/base/hub/token", "access:services!service=board into the field Permissions", "Request new API"):
        assert words in refused.json()["detail"]
    assert httpx.get(board, headers={"Authorization": "token wrong"}, trust_env=False).status_code == 401


LAB = """
from pathlib import Path
from course.competition import client
from course.errors import Problem
client.HOME = Path.cwd()
try:
    client.join({address!r}{more})
    client.history()
except Problem as problem:
    print(problem)
"""


def run_in_server(server, address, more=""):
    """What the lab's client prints in the environment of a user's own server, a psutil.Process."""
    return subprocess.run(
        [sys.executable, "-c", LAB.format(address=address, more=more)],
        env=server.environ() | {"PYTHONPATH": str(HOME)}, cwd=server.environ()["HOME"], capture_output=True, text=True,
    ).stdout  # fmt: skip


def start_server(browser, hub, name):
    """A user's own server, started by the Hub's page, as a psutil.Process."""
    folder, url = hub
    (folder / "home" / name).mkdir(parents=True, exist_ok=True)
    with logged_in(browser, url, name) as tab:
        tab.goto(f"{url}/hub/spawn/{name}")
        tab.wait_for_url(f"{url}/user/{name}/**", timeout=1000 * PATIENCE)
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if process.environ().get("JUPYTERHUB_SERVICE_PREFIX") == f"/base/user/{name}/":
                return process
    raise AssertionError((folder / "log").read_text()[-3000:])


@pytest.mark.long
def test_the_labs_client_joins_from_a_users_own_server_with_the_boards_address_alone(hub, browser):
    _, url = hub
    server = start_server(browser, hub, "bob")
    output = run_in_server(server, f"{url}/services/board")
    assert "You now hand in for the group Team A, as the Hub knows you." in output and "you can hand in" in output
    kept = (Path(server.environ()["HOME"]) / "work" / "board.json").read_text()
    assert server.environ()["JUPYTERHUB_API_TOKEN"] not in kept + output
    # Any other board does not get the server's token.
    with start_recorder() as (elsewhere, requests):
        for path in ("/services/board", ""):
            run_in_server(server, f"{elsewhere}{path}", ', "Team", "code"')
        run_in_server(server, elsewhere)
    assert not any(server.environ()["JUPYTERHUB_API_TOKEN"] in str(headers) for headers in requests)
    (Path(server.environ()["HOME"]) / "work" / "board.json").unlink()
    assert "this board takes its groups from the JupyterHub: open the Hub's page" in run_in_server(
        server, f"{url}/services/board", ', "Team", "code"'
    )


@contextlib.contextmanager
def start_recorder():
    """A server that is no board: (its URL, the headers of all requests to it)."""
    requests = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            requests.append(dict(self.headers))
            self.send_error(404)

        do_POST = do_GET

        def log_message(self, *_):
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}", requests
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.long
def test_a_log_in_that_another_browser_began_is_refused(hub, browser):
    _, url = hub
    begun = httpx.get(f"{url}/services/board/hub/log-in", params={"next": "//elsewhere.example/"}, trust_env=False)
    state = httpx.URL(begun.headers["location"]).params["state"]
    reply = httpx.get(f"{url}/services/board/oauth_callback", params={"code": "x", "state": state}, trust_env=False)
    assert reply.status_code == 403 and "did not begin in this browser" in reply.text
    own = httpx.get(
        f"{url}/services/board/oauth_callback", params={"code": "x", "state": state}, cookies=begun.cookies,
        trust_env=False,
    )  # fmt: skip
    assert own.status_code == 403 and "did not confirm" in own.text


def test_a_board_that_a_user_starts_in_a_hubs_server_is_not_a_service_of_the_hub(monkeypatch):
    """A user's server has a prefix, an address and a token too, which are not the board's."""
    for line in (
        "SERVICE_PREFIX=/user/ada/",
        "SERVICE_URL=http://127.0.0.1:8888/user/ada/",
        "API_TOKEN=secret",
        "USER=ada",
    ):
        name, _, value = line.partition("=")
        monkeypatch.setenv(f"JUPYTERHUB_{name}", value)
    assert not is_service() and prefix() == ""
