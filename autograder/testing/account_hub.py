"""A real JupyterHub with the accounts of a class, and nothing else of it: no sandbox, no leaderboard.

For tests of logging in, which need no student's server.
"""

import contextlib
import html
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest

from autograder.classroom.folder import Folder
from autograder.testing.board_process import find_free_port
from course.files import write_whole

PATIENCE = 240  # seconds
CONFIG = """
from autograder.classroom import accounts, settings
from autograder.classroom.folder import Folder

folder = Folder({folder!r})
accounts.configure(c, folder, settings.read(folder))
c.JupyterHub.bind_url = "{url}"
c.JupyterHub.hub_port = {ports[1]}
c.ConfigurableHTTPProxy.api_url = "http://127.0.0.1:{ports[2]}"
c.JupyterHub.spawner_class = "simple"
"""
TLS = """c.JupyterHub.ssl_cert = {certificate!r}
c.JupyterHub.ssl_key = {certificate!r}
"""


@contextlib.contextmanager
def start_hub(root, accounts, certificate=None):
    """Start a Hub for a class in the folder `root`; yields its address.

    accounts: the text of [accounts] in classroom.toml. certificate: a file with a key and a certificate, for TLS.
    """
    proxy = shutil.which("configurable-http-proxy")
    if proxy is None:
        pytest.skip("JupyterHub's proxy is not installed: install Debian's package node-configurable-http-proxy")
    folder = Folder(root)
    write_whole(folder.settings, accounts)
    folder.prepare()
    ports = [find_free_port() for _ in range(3)]
    url = f"http{'s' * bool(certificate)}://127.0.0.1:{ports[0]}"
    text = CONFIG.format(folder=str(root), ports=ports, url=url)
    write_whole(folder.config, text + TLS.format(certificate=str(certificate)) * bool(certificate))
    environment = os.environ | {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "NODE_PATH": str(Path(proxy).resolve().parents[2]),  # a node that is not Debian's does not search there
    }
    command = [sys.executable, "-m", "jupyterhub", "--config", folder.config]
    with folder.log.open("w") as log:
        process = subprocess.Popen(command, cwd=folder.hub, env=environment, stdout=log, stderr=log)
    try:
        end = time.monotonic() + PATIENCE
        while not is_up(url):
            assert process.poll() is None and time.monotonic() < end, folder.log.read_text()
            time.sleep(0.1)
        yield url
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(PATIENCE)


def is_up(url):
    """Whether the Hub answers."""
    with contextlib.suppress(httpx.HTTPError):
        return httpx.get(f"{url}/hub/api/", verify=False).status_code == 200
    return False


def read_error(answer):
    """The sentences of the Hub's page of an error, without its markup."""
    text = answer.text.partition('<div class="error">')[2].partition("</div>")[0]
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", text)).split())
