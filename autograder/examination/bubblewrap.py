"""The command line of a sandbox: what student code can see there, what its environment holds, and its limits.

`enclose` turns a command into one that bubblewrap runs in a sandbox. Inside there are a read-only system, this Python
environment, `course/` and `datasets/`; home, /tmp and /dev/shm are empty folders in memory; the only network is a
private loopback. Nothing of solutions, classes, other hand-ins or the grader is visible. A grader who is root drops to
an unprivileged user first. Nothing is run here but Matplotlib, once, to make its list of fonts.
"""

import functools
import os
import resource
import subprocess
import sys
from pathlib import Path

from course import data
from course.home import DATASETS, HOME

HOME_SIZE = 512 * 2**20  # bytes each for home, /tmp and /dev/shm
PROCESSES = 1024  # threads included

USERS = range(61200, 61200 + 4096)  # that root drops to: ids that no account has, below those that systemd hands out
STUDENT_HOME = "/home/student"
RUN = "/run/kernel"  # the kernel's sockets and connection file
# As many kernels run at once as there are cores. With several threads in each, threads waited for each other in turn
# and made training with small matrices five times slower.
ONE_THREAD = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
ETC = Path(__file__).resolve().parent / "etc"  # hosts and passwd, as a sandbox has them
SYSTEM_ETC = ["alternatives", "fonts", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "localtime", "nsswitch.conf"]


def enclose(command, user=USERS[0], options=(), settings=None):
    """Return the command that runs `command` in a new sandbox.

    user: the user id that a grader who is root drops to. options: further options for bubblewrap. settings: further
    variables for the environment inside.
    """
    variables = [part for name, value in make_environment(settings).items() for part in ("--setenv", name, value)]
    limits = [f"--{name.removeprefix('RLIMIT_').lower()}={limit}" for name, limit in list_limits().items()]
    enclosed = [
        "bwrap", "--unshare-all", "--unshare-user", "--disable-userns", "--die-with-parent", "--new-session",
        "--uid", "1000", "--gid", "1000", "--hostname", "localhost", "--clearenv", *variables,
        *bind_system(), "--proc", "/proc", "--dev", "/dev", *furnish(), *options,
        "--remount-ro", "/dev", "--remount-ro", "/", "--chdir", STUDENT_HOME, "--", "prlimit", *limits, "--", *command,
    ]  # fmt: skip
    return drop_root(enclosed, user) if os.geteuid() == 0 else enclosed


def furnish(folders=()):
    """Return options for what a sandbox has beside the system: folders in memory, the environment and the course.

    folders: options that make the folders above these, where they must have other permissions than bubblewrap's.
    """
    shared = [option for path in list_visible_folders() for option in ("--ro-bind", path, path)]
    fonts = [
        option
        for path in list_font_files()
        for option in ("--ro-bind", path, f"{STUDENT_HOME}/.cache/matplotlib/{Path(path).name}")
    ]
    etc = [option for name in ("hosts", "passwd") for option in ("--ro-bind", str(ETC / name), f"/etc/{name}")]
    memory = [*keep_in_memory("/dev/shm"), *keep_in_memory("/tmp"), *keep_in_memory(STUDENT_HOME)]
    caches = [f"{STUDENT_HOME}/{path}" for path in (".cache", ".cache/matplotlib")]  # not only root's
    caches = [part for path in caches for part in ("--perms", "777", "--dir", path)]
    return [*memory, *keep_in_memory(RUN, 2**20), *folders, *caches, *shared, *fonts, *etc]


def list_limits():
    """Return the limits of each process in a sandbox: name in `resource` -> number, or "unlimited"."""
    return {
        "RLIMIT_NPROC": PROCESSES,
        "RLIMIT_FSIZE": HOME_SIZE,
        "RLIMIT_CORE": 0,
        "RLIMIT_DATA": read_data_limit(),
    }


def show_alike(command, user, settings):
    """Return the command by which root runs `command` as `user`, where everything looks as in a sandbox.

    It is in none: it has this machine's processes in /proc, because its children enter sandboxes. It has no network.
    """
    variables = [part for name, value in make_environment(settings).items() for part in ("--setenv", name, value)]
    parents = [parent for path in [*list_visible_folders(), STUDENT_HOME, RUN] for parent in Path(path).parents[:-1]]
    folders = [part for path in sorted({"/etc", *map(str, parents)}) for part in ("--perms", "755", "--dir", path)]
    return [
        "setpriv", "--pdeathsig=KILL", "--",
        "bwrap", "--unshare-net", "--unshare-ipc", "--die-with-parent", "--clearenv", *variables,
        # Once more in `furnish`: what lies below /tmp is hidden by the /tmp that it mounts.
        *folders, *bind_system(), "--bind", "/proc", "/proc", "--dev", "/dev", *furnish(folders),
        "--remount-ro", "/dev", "--remount-ro", "/", "--chdir", STUDENT_HOME, "--",
        "setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", "--no-new-privs", "--bounding-set=-all",
        "--", *command,
    ]  # fmt: skip


def drop_root(command, user):
    """Return the command by which root runs `command` as `user`, who has no rights.

    Other users cannot read everything that root can, so an outer bubblewrap first binds what the sandbox needs where
    that user can read it. This happens in a process namespace that root makes and that ends when the grader is killed:
    otherwise root's processes would be left over, which an unprivileged user cannot end.
    """
    sources = [*list_visible_folders(), *list_font_files(), str(ETC)]
    binds = [option for path in sources for option in ("--ro-bind", path, path)]
    parents = {str(parent): None for path in sources for parent in reversed(Path(path).parents[:-1])}
    folders = [option for parent in ["/etc", *parents] for option in ("--perms", "755", "--dir", parent)]
    return [
        "setpriv", "--pdeathsig=KILL", "--",
        "unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "--",
        "bwrap", "--die-with-parent", "--bind", "/proc", "/proc", "--dev", "/dev", "--perms", "1777", "--tmpfs", "/tmp",
        *folders, *bind_system(), *binds, "--",
        "setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", "--pdeathsig=KILL", "--", *command,
    ]  # fmt: skip


def bind_system():
    """Return options that make this machine's programs and libraries visible, read-only."""
    options = ["--ro-bind", "/usr", "/usr"]
    for path in map(Path, ("/bin", "/lib", "/lib32", "/lib64", "/libx32", "/sbin")):
        if path.is_symlink():
            options += ["--symlink", str(path.readlink()), str(path)]
        elif path.exists():
            options += ["--ro-bind", str(path), str(path)]
    return options + [option for name in SYSTEM_ETC for option in ("--ro-bind-try", f"/etc/{name}", f"/etc/{name}")]


def keep_in_memory(path, size=HOME_SIZE):
    """Return options for an empty folder that is kept in memory and holds at most `size` bytes."""
    return ["--perms", "1777", "--size", str(size), "--tmpfs", path]


def mask(contents):
    """Return (options, descriptors) that put other contents in place of files and folders.

    contents: path -> bytes for a file, or None for an empty folder. The descriptors must be open in bubblewrap's
    process, and the caller closes its own.
    """
    options, descriptors = [], []
    for path, content in contents.items():
        if content is None:
            options += ["--tmpfs", path]
        else:
            descriptors.append(open_content(content))
            options += ["--ro-bind-data", str(descriptors[-1]), path]
    return options, descriptors


def open_content(content):
    """Return the descriptor of a file in memory that holds the bytes `content`."""
    descriptor = os.memfd_create("content")
    with open(descriptor, "wb", closefd=False) as file:
        file.write(content)
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


def read_data_limit():
    """Return this process's own hard limit on data memory, in bytes or "unlimited".

    The process in which checks run has a narrower soft limit, and that one must not limit the sandbox.
    """
    hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
    return "unlimited" if hard == resource.RLIM_INFINITY else hard


@functools.cache
def list_visible_folders():
    """List the folders that a lab needs: Python, the environment, the course, its data and downloaded data."""
    folders = [Path(sys.base_prefix).resolve(), Path(sys.prefix).resolve(), HOME / "course", DATASETS, data.cache()]
    return [str(folder) for folder in folders if folder.exists() and not folder.is_relative_to("/usr")]


@functools.cache
def list_font_files():
    """List Matplotlib's font lists, which would take seconds to make in each sandbox."""
    import matplotlib

    folder = Path(matplotlib.get_cachedir())
    if not list(folder.glob("fontlist-*.json")):
        subprocess.run([sys.executable, "-c", "import matplotlib.font_manager"], capture_output=True)
    return list(map(str, folder.glob("fontlist-*.json")))


def make_environment(settings):
    """Return the whole environment of a kernel in a sandbox, `settings` included."""
    return (
        ONE_THREAD
        | (settings or {})
        | {
            "PATH": f"{Path(sys.prefix) / 'bin'}:/usr/bin:/bin",
            "HOME": STUDENT_HOME,
            "USER": "student",
            "LANG": "C.UTF-8",
            "COURSE_DATA": str(data.cache()),
        }
    )
