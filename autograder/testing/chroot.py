"""A fresh Debian of a named release in a folder, for tests that install something: made by debootstrap, used by root.

Packages come from the mirror of this machine's apt and through pip's configuration here. Nothing is mounted in this
machine's own mount namespace, and all processes are in a namespace that ends with the test, even if it is killed.
"""

import ast
import contextlib
import datetime
import hashlib
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import filelock
import psutil

from course import cache
from course.errors import Problem

PROGRAMS = ("debootstrap", "unshare", "nsenter", "pivot_root")
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
HOST = "/host"  # what pip needs of this machine is below this folder of the chroot
# The first process of the chroot. Its root is a real one, since bubblewrap works in no other. It ignores the signals of
# children that end, so that orphans leave no zombies.
INIT = """set -e
mount --bind "$0" "$0"
cd "$0"
mount -t proc proc proc
mount --rbind /dev dev
mount --rbind /sys sys
mount -t tmpfs tmpfs run
while [ $# -gt 0 ]; do
  mkdir -p ".$2"
  mount --bind "$1" ".$2"
  mount -o remount,ro,bind ".$2"
  shift 2
done
mkdir -p .machine
pivot_root . .machine
umount -l /.machine
trap '' CHLD
echo ready
exec cat
"""


class Chroot:
    """A Debian that runs. folder: its root, without what is mounted in it; first: the id of its first process.

    Both are as this machine sees them.
    """

    def __init__(self, folder, first):
        self.folder, self.first = folder, first

    def command(self, *command):
        """The command line that runs `command` in the chroot as root, for `subprocess.Popen` with `environment()`."""
        return ["nsenter", f"--target={self.first}", "--mount", "--pid", "env", "--chdir=/root", *map(str, command)]

    def run(self, *command, check=True, **options):
        """Run a command to its end; returns subprocess's CompletedProcess with its text of both streams in stdout.

        Raises AssertionError with that text if it fails, unless `check` is false.
        """
        result = subprocess.run(
            self.command(*command),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=environment(),
            **options,
        )
        assert not check or result.returncode == 0, f"{shlex.join(map(str, command))}:\n{result.stdout}"
        return result


def environment():
    """The variables of a command in the chroot: few of this machine's, and pip's configuration."""
    proxies = {name: value for name, value in os.environ.items() if name.lower().endswith("_proxy")}
    few = {"PATH": PATH, "HOME": "/root", "LANG": "C.UTF-8", "DEBIAN_FRONTEND": "noninteractive"}
    return few | proxies | {name: _in_chroot(value) for name, value in _read_pip_configuration().items()}


@contextlib.contextmanager
def open_chroot(release, packages, folders=None):
    """Yields a Chroot of a Debian release such as "bookworm", with these packages, which a test may change at will.

    folders: folder of this machine -> its absolute path in the chroot, where it is mounted read-only. Raises Problem.
    """
    base = _make_base(release, packages)
    mounts = {str(source): str(target) for source, target in (folders or {}).items()}
    with tempfile.TemporaryDirectory(prefix="chroot-") as folder:
        root = Path(folder) / "root"
        subprocess.run(["cp", "-a", "--reflink=auto", base, root], check=True)
        for path in _named_paths():
            if path.is_dir():
                mounts[str(path)] = f"{HOST}{path}"
            else:
                copy = root / f"{HOST}{path}".lstrip("/")
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(path, copy)
        shutil.copy("/etc/hosts", root / "etc/hosts")
        with _run_first(root, mounts) as first:
            yield Chroot(root, first)


@contextlib.contextmanager
def _run_first(root, mounts):
    """Run the first process; yields its id here. With it, all processes of the chroot end, and its mounts are gone."""
    pairs = [word for pair in mounts.items() for word in pair]
    unshare = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", INIT, str(root), *pairs]
    process = subprocess.Popen(unshare, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    children = []
    try:
        if process.stdout.readline() != "ready\n":
            raise Problem("The chroot could not be started: what was printed above says why.")
        children = psutil.Process(process.pid).children()
        yield children[0].pid
    finally:
        process.kill()
        process.communicate()
        psutil.wait_procs(children)  # the first process ends after all others


def _make_base(release, packages):
    """The folder of this release with these packages, made at most once per day."""
    if os.geteuid() != 0:
        raise Problem("A chroot needs root: run these tests as root.")
    if missing := [name for name in PROGRAMS if not shutil.which(name, path=PATH)]:
        raise Problem(f"{', '.join(missing)} missing: install Debian's packages debootstrap and util-linux.")
    mirror = _find_mirror()
    digest = hashlib.sha256(" ".join([mirror, *sorted(packages)]).encode()).hexdigest()[:8]
    today = f"{datetime.date.today():%Y%m%d}"
    bases = cache.folder() / "chroot"
    bases.mkdir(parents=True, exist_ok=True)
    base = bases / f"{release}-{digest}-{today}"
    with filelock.FileLock(bases / f"{release}-{digest}.lock"):
        for old in bases.glob(f"{release}-{digest}-*"):
            if old != base:
                shutil.rmtree(old)
        if not base.exists():
            part = bases / f"{base.name}.part"
            _install(release, packages, mirror, part)
            part.rename(base)
    return base


def _install(release, packages, mirror, folder):
    """debootstrap, then apt for the packages; a service that a package would start is not started."""
    steps = subprocess.run(
        ["debootstrap", "--variant=minbase", "--include=ca-certificates", release, folder, mirror],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if steps.returncode != 0:
        raise Problem(f"Debian {release} could not be fetched: {steps.stdout.strip().splitlines()[-1]}")
    (folder / "usr/sbin/policy-rc.d").write_text("#!/bin/sh\nexit 101\n")
    (folder / "usr/sbin/policy-rc.d").chmod(0o755)
    (folder / "etc/dpkg/dpkg.cfg.d/unsafe-io").write_text("force-unsafe-io\n")  # it need not survive a power cut
    if packages:
        with _run_first(folder, {}) as first:
            install = ["apt-get", "install", "--yes", "-qq", "--no-install-recommends", *packages]
            result = Chroot(folder, first).run(*install, check=False)
            if result.returncode != 0:
                raise Problem(f"Packages could not be installed: {result.stdout.strip().splitlines()[-1]}")


def _find_mirror():
    """The address of the archive from which this machine's apt takes Debian."""
    command = ["apt-get", "indextargets", "--format", "$(REPO_URI)", "Origin: Debian"]
    addresses = subprocess.run(command, capture_output=True, text=True).stdout.split()
    mirror = next((address for address in addresses if "security" not in address), None)
    if mirror is None:
        raise Problem("This machine's apt has no archive of Debian: run apt-get update on a Debian machine.")
    return mirror


def _read_pip_configuration():
    """Variable of pip -> value, from pip's files and environment here; a variable wins over a file, as in pip."""
    lines = subprocess.check_output([sys.executable, "-m", "pip", "config", "list"], text=True).splitlines()
    pairs = (line.partition("=") for line in sorted(lines, key=lambda line: line.startswith(":env:")))
    return {
        f"PIP_{name.rpartition('.')[2].replace('-', '_').upper()}": ast.literal_eval(value) for name, _, value in pairs
    }


def _split(word):
    """(what is before the path, the path or None) of a word of pip's configuration."""
    before, mark, path = word.partition("file://") if word.startswith("file://") else ("", "", word)
    return (before + mark, Path(path)) if path.startswith("/") and Path(path).exists() else (word, None)


def _named_paths():
    """The files and folders of this machine that pip's configuration names; an index's files may lie beside it."""
    words = " ".join(_read_pip_configuration().values()).split()
    return {path.parent if before else path for before, path in map(_split, words) if path}


def _in_chroot(value):
    """A value of pip's configuration with each path of this machine replaced by the one in the chroot."""
    pairs = [_split(word) for word in value.split()]
    return " ".join(f"{before}{HOST}{path}" if path else before for before, path in pairs)
