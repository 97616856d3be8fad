"""The Hub's configuration for a class: accounts, spawner, leaderboard and formgrader, and the ports between them.

`hub/jupyterhub_config.py` of the class calls `configure`. The ports on the loopback address stay the same from start to
start, because servers that run on while the Hub is away know them; as root they lie below 1024, where no student can
listen.
"""

import errno
import json
import os
import random
import socket
import sys
from pathlib import Path

from autograder.classroom import accounts, limits
from autograder.classroom.folder import Folder
from autograder.classroom.queue import EngineQueue
from autograder.classroom.settings import read
from autograder.classroom.starts import SECONDS_TO_WAIT, StartQueue
from course.errors import Problem
from course.files import write_whole

PORTS = ("hub", "proxy", "board", "formgrader")
FIRST_UNPRIVILEGED = Path("/proc/sys/net/ipv4/ip_unprivileged_port_start")
CONFIG = """from autograder.classroom.hub import configure

configure(get_config(), {root!r})  # noqa: F821 - JupyterHub provides it
"""
SECONDS_TO_NOTICE = 3  # at most, until a server that ended has no route: another student may listen at its port then
SECONDS_TO_START = 300  # for a student's server, whose turn has come


def configure(c, root):
    """Fill the Hub's configuration `c` for the class in the folder `root`. Raises Problem."""
    folder = Folder(root)
    settings = read(folder)
    ports = json.loads(folder.ports.read_text())
    configure_hub(c, folder, settings, ports)
    accounts.configure(c, folder, settings)
    configure_servers(c, folder, settings)
    configure_services(c, settings, ports)


def configure_hub(c, folder, settings, ports):
    """The Hub itself and its proxy."""
    hub = c.JupyterHub
    hub.bind_url = f"http{'s' * bool(settings.certificate)}://{settings.host}:{settings.port}/"
    hub.hub_bind_url = f"http://127.0.0.1:{ports['hub']}"
    if settings.certificate:
        hub.ssl_cert, hub.ssl_key = str(settings.certificate), str(settings.key)
    if settings.domain:
        hub.subdomain_host = settings.domain
    hub.db_url = f"sqlite:///{folder.hub / 'jupyterhub.sqlite'}"
    hub.cookie_secret_file = str(folder.hub / "cookie_secret")
    hub.concurrent_spawn_limit = 0  # more servers than can start at once wait in a StartQueue
    c.ConfigurableHTTPProxy.api_url = f"http://127.0.0.1:{ports['proxy']}"
    c.ConfigurableHTTPProxy.should_start = False  # `serve.start_proxy` does it
    c.ConfigurableHTTPProxy.auth_token = read_secret(folder.proxy_token)


def configure_servers(c, folder, settings):
    """The students' servers, their limits, and the queues for starts and for engines, which run in the Hub."""
    from autograder.classroom.spawner import ClassSpawner

    ClassSpawner.limits = limits.read(settings.limits, folder.settings)
    most = ClassSpawner.limits.count_engines()
    ClassSpawner.queue = EngineQueue(folder.hub / "engines", most, ClassSpawner.limits.engines_per_student)
    ClassSpawner.queue.start()
    ClassSpawner.starts = StartQueue(2 * (os.cpu_count() or 1))
    c.JupyterHub.spawner_class = ClassSpawner
    c.ClassSpawner.folder, c.ClassSpawner.settings = folder, settings
    c.Spawner.cmd = [sys.executable, "-P", "-m", "course.student.hub"]
    c.Spawner.default_url = "/lab/tree/index.ipynb"
    c.Spawner.env_keep = []
    c.Spawner.poll_interval = SECONDS_TO_NOTICE
    c.Spawner.start_timeout, c.Spawner.http_timeout = SECONDS_TO_WAIT + SECONDS_TO_START, SECONDS_TO_START
    c.Spawner.server_token_scopes = [
        "users:activity!user", "access:servers!server", "access:services!service=board",
    ]  # fmt: skip


def configure_services(c, settings, ports):
    """The leaderboard for everybody, formgrader for instructors, who are the Hub's admins."""

    def make_service(name, folder):
        # A service ends with the Hub, also where the Hub is killed, because the next Hub starts it again.
        command = ["setpriv", "--pdeathsig=TERM", "--", sys.executable, "-P", "-m", "course.command", name, str(folder)]
        return {
            "name": name, "url": f"http://127.0.0.1:{ports[name]}", "command": command, "oauth_no_confirm": True,
            "environment": {"PATH": os.environ["PATH"]},
        }  # fmt: skip

    c.JupyterHub.services = [make_service("board", settings.board), make_service("formgrader", settings.class_)]
    c.JupyterHub.load_roles = [{"name": "user", "scopes": ["self", "access:services!service=board"]}]
    if settings.accounts["kind"] in ("csv", "pam"):
        # The whole list: who is no longer in it loses the role, which the Hub's database would keep.
        c.JupyterHub.load_roles.append({"name": "admin", "users": list(settings.instructors)})


def read_secret(path):
    """Return the secret in a file, which is made if it is missing."""
    if not path.exists():
        write_whole(path, os.urandom(32).hex(), mode=0o600)
    return path.read_text()


def prepare_ports(folder, settings):
    """Choose ports between the Hub and its parts, once, and write the Hub's configuration file. Raises Problem."""
    ports = json.loads(folder.ports.read_text()) if folder.ports.exists() else {}
    taken = {*ports.values(), settings.port}
    for name in PORTS:
        if name not in ports:
            ports[name] = find_port(taken)
            taken.add(ports[name])
    write_whole(folder.ports, json.dumps(ports), mode=0o600)
    write_whole(folder.config, CONFIG.format(root=str(folder.root)), mode=0o600)
    return ports


def find_port(taken):
    """Return a free port on the loopback address: below those that students can listen at, where that is possible."""
    limit = int(FIRST_UNPRIVILEGED.read_text()) if FIRST_UNPRIVILEGED.exists() else 1024
    ports = range(512, 1024) if os.geteuid() == 0 and limit > 512 else range(20000, 30000)
    for port in random.sample(ports, len(ports)):  # another class may start at the same time
        if port not in taken and is_free("127.0.0.1", port):
            return port
    raise Problem("this machine has no free port for the Hub: end programs that you no longer need.")


def is_free(address, port):
    """Whether a program could listen at this address and port. Raises Problem where nobody could."""
    with socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((address, port))
        except PermissionError:
            raise Problem(
                f"only root may listen at port {port}: use a port above 1023, or start this with sudo."
            ) from None
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise Problem(
                    f"no program can listen at the address {address!r} ({error.strerror}): use an address of this "
                    'machine, or "0.0.0.0" for all of them.'
                ) from None
            return False
    return True
