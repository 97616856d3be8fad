"""Machines reached by SSH, all on this one, for tests and to try out a profile: Debian's openssh-server, and root.

Each machine has a host name, a user, a home, a /tmp and processes of its own (Linux namespaces), and its sshd listens
on a free port of the loopback interface. Keys are made anew, and neither /etc nor a file of the user's is changed.
`python -m autograder.testing.ssh` runs two machines until Ctrl-C and prints the configuration of a profile.
"""

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil

from autograder.testing.ports import find_free_ports
from course.errors import Problem

NAMES, SECONDS_TO_START = ("ada", "bob"), 60
PROGRAMS = {"sshd": "openssh-server", "ssh": "openssh-client", "unshare": "util-linux"}
SEARCHED = os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin"])
UID = 61000  # of every machine's user; no account of this machine is meant
SSHD = """Port {port}
ListenAddress 127.0.0.1
HostKey /run/machine/host_key
AuthorizedKeysFile /run/machine/user_key.pub
StrictModes no
PidFile none
UsePAM no
PasswordAuthentication no
PermitRootLogin no
Subsystem sftp internal-sftp
MaxStartups 100
"""
ACCOUNT = {
    "passwd": "{name}:x:{uid}:{uid}::/home/{name}:/bin/bash",
    "shadow": "{name}:*:19000::::::",
    "group": "{name}:x:{uid}:",
}
# The first process of a machine: $1 is its name, $2 the uid of its user, $3 its folder, and the others are folders that
# its user must reach, wherever they lie. They stay reachable, although /tmp and root's home are new and empty. bash
# reaps orphans, so that an engine which ends leaves no zombie that its nanny would take for alive.
INIT = """set -e
name=$1 uid=$2 folder=$3
shift 3
hostname "$name"
mkdir "$folder/kept"
number=0
for kept; do
  number=$((number + 1))
  mkdir "$folder/kept/$number"
  mount --bind "$kept" "$folder/kept/$number"
done
mount -t tmpfs -o mode=755 tmpfs /run
mkdir /run/machine /run/sshd
mount --rbind "$folder" /run/machine
mount -t tmpfs -o mode=1777 tmpfs /tmp
mount -t tmpfs -o mode=755 tmpfs "$HOME"
number=0
for kept; do
  number=$((number + 1))
  mkdir -p "$kept"
  mount --rbind "/run/machine/kept/$number" "$kept"
done
for file in passwd shadow group; do mount --bind "/run/machine/$file" "/etc/$file"; done
mount -t tmpfs -o mode=755 tmpfs /home
mkdir "/home/$name"
chown "$uid:$uid" "/home/$name"
cd /
/usr/sbin/sshd -E /run/machine/log -f /run/machine/sshd_config
while true; do
  sleep 1000 &
  wait
done
"""
# ssh reads this instead of the user's files. ipyparallel would use one port for all machines, so each has a name here.
SSH = """Host *
  HostName 127.0.0.1
  IdentityFile {folder}/key
  IdentitiesOnly yes
  StrictHostKeyChecking no
  UserKnownHostsFile /dev/null
  BatchMode yes
  LogLevel ERROR
"""
HOST = """Host {name}
  Port {port}
  User {name}
"""
CONFIGURATION = """c = get_config()
c.Cluster.engine_launcher_class = "ssh"
c.SSHEngineSetLauncher.engines = {engines}
c.SSHEngineSetLauncher.ssh_args = c.SSHEngineSetLauncher.scp_args = ["-F", "{folder}/ssh_config"]
c.SSHEngineSetLauncher.remote_python = {python!r}
"""


class Machine:
    """A machine that runs. name: its host name, and that of its user. port: where its sshd listens."""

    def __init__(self, name, folder, port):
        self.name, self.folder, self.port = name, folder, port
        self.process = None

    def start(self, key):
        """Start it; returns at once. key: the Path of the key with which its user logs in."""
        self.folder.mkdir()
        shutil.copy(f"{key}.pub", self.folder / "user_key.pub")
        make_key(self.folder / "host_key")
        (self.folder / "sshd_config").write_text(SSHD.format(port=self.port))
        for file, line in ACCOUNT.items():
            text = Path("/etc", file).read_text() + line.format(name=self.name, uid=UID) + "\n"
            (self.folder / file).write_text(text)
        ends_with_us = ["setpriv", "--pdeathsig=KILL", "--"]
        namespaces = ["--mount", "--uts", "--pid", "--ipc", "--fork", "--kill-child", "--mount-proc"]
        program = ["bash", "-c", INIT, "machine", self.name, str(UID), self.folder, *list_kept()]
        with (self.folder / "log").open("wb") as log:
            self.process = subprocess.Popen(
                [*ends_with_us, "unshare", *namespaces, *program],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )

    def kill_sshd(self):
        """Kill its sshd and all that handle a connection; what was started through them goes on."""
        for process in psutil.Process(self.process.pid).children(recursive=True):
            with contextlib.suppress(psutil.NoSuchProcess):
                if process.name() == "sshd":
                    process.kill()

    def start_sshd(self):
        """Start its sshd again."""
        first = psutil.Process(self.process.pid).children()[0].pid
        sshd = ["/usr/sbin/sshd", "-E", "/run/machine/log", "-f", "/run/machine/sshd_config"]
        subprocess.run(["nsenter", f"--target={first}", "--mount", "--uts", "--pid", "--ipc", *sshd], check=True)

    def stop(self):
        """End it and all its processes, as a power failure does."""
        if self.process:
            self.process.kill()
            self.process.wait()


class Machines:
    """Some machines. folder: of their files. key: the Path of the private key that opens all of them."""

    def __init__(self, folder, names=NAMES):
        self.folder, self.key = folder, folder / "key"
        first = int(find_free_ports().partition("-")[0])
        self.all = {name: Machine(name, folder / name, first + i) for i, name in enumerate(names)}

    def start(self):
        """Start all machines; returns when each has answered by SSH. Raises Problem."""
        if missing := {package for name, package in PROGRAMS.items() if not shutil.which(name, path=SEARCHED)}:
            raise Problem(f"The machines need Debian's packages {', '.join(sorted(missing))}: install them.")
        if os.geteuid() != 0:
            raise Problem("Only root can make the machines, since each has users and folders of its own: use sudo.")
        make_key(self.key)
        hosts = [HOST.format(name=machine.name, port=machine.port) for machine in self.all.values()]
        (self.folder / "ssh_config").write_text("".join([*hosts, SSH.format(folder=self.folder)]))
        for machine in self.all.values():
            machine.start(self.key)
        deadline = time.monotonic() + SECONDS_TO_START
        for machine in self.all.values():
            while self.ask(machine.name, "hostname") != machine.name:
                if time.monotonic() > deadline or machine.process.poll() is not None:
                    log = (machine.folder / "log").read_text(errors="replace").strip()
                    raise Problem(f"The machine {machine.name} did not answer by SSH: {log or 'its sshd is silent'}.")
                time.sleep(0.1)

    def ask(self, name, *command):
        """The output of a command on a machine, without white space at the ends; "" if it cannot be reached."""
        line = ["ssh", "-F", str(self.folder / "ssh_config"), name, *command]
        return subprocess.run(line, capture_output=True, text=True, stdin=subprocess.DEVNULL).stdout.strip()

    def configure(self, each=2):
        """The text of an ipcluster_config.py that starts `each` engines on each machine."""
        engines = dict.fromkeys(self.all, each)
        return CONFIGURATION.format(engines=engines, folder=self.folder, python=sys.executable)

    def stop(self):
        """End all machines."""
        for machine in self.all.values():
            machine.stop()


def make_key(file):
    """Make a key pair without a passphrase."""
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(file)], check=True)


def list_kept():
    """The folders of the Python environment and of the course that a new /tmp or home would hide."""
    course = Path(__file__).parents[2]
    hidden = [Path("/tmp"), Path.home()]
    folders = dict.fromkeys(map(Path, (sys.base_prefix, sys.prefix, course)))
    return [folder for folder in folders if any(folder.is_relative_to(each) for each in hidden)]


@contextlib.contextmanager
def start_machines(names=NAMES):
    """Start machines with these names; yields a Machines and ends everything. Raises Problem."""
    with tempfile.TemporaryDirectory(prefix="ssh-", ignore_cleanup_errors=True) as folder:
        machines = Machines(Path(folder), names)
        try:
            machines.start()
            yield machines
        finally:
            machines.stop()


def main():
    """Run two machines until Ctrl-C."""
    try:
        with start_machines() as machines, contextlib.suppress(KeyboardInterrupt):
            print(machines.configure(), flush=True)
            while True:
                time.sleep(1)
    except Problem as problem:
        sys.exit(str(problem))


if __name__ == "__main__":
    main()
