"""The sandbox of a student's server: what it sees of the machine, under which user, and how all of it ends.

It shares its parts with the sandbox of hand-ins (`examination.bubblewrap`). Inside are a read-only system, this Python
environment, `course/`, `labs/` and `datasets/`, the student's home, and what the caller binds. Processes have their own
/proc, /tmp and /dev/shm. The network is the machine's, because the Hub's proxy must reach the server: programs inside
can reach whatever listens on this machine's loopback address. Runs nothing.
"""

import os
import sys
from pathlib import Path

from autograder.examination.bubblewrap import ETC, bind_system, keep_in_memory, list_visible_folders
from course import data
from course.home import HOME, LABS

USERS = range(66000, 98000)  # ids that no account has: below those of user namespaces, apart from those of hand-ins
NETWORK_ETC = ["resolv.conf", "ssl", "ca-certificates", "java-17-openjdk"]
EXCHANGE = "/srv/exchange"
FEEDBACK = "/srv/feedback"
QUEUE = "/srv/engines"  # the folder with the student's socket of the engine queue


def find_home(name):
    """Return the home of a student, as the sandbox has it."""
    return f"/home/{name}"


def enclose(command, name, user, files, options):
    """Return the command that runs `command` in a new sandbox for the student `name`.

    user: the id that root drops to; None where the Hub's user is not root, and who then also owns what runs inside.
    files: path inside -> descriptor of its content. options: further options for bubblewrap.

    The command's process ends when all of the sandbox has ended; if it is killed, all of the sandbox ends.
    """
    readable = [str(LABS), *list_visible_folders()]
    parents = {str(parent): None for path in readable for parent in reversed(Path(path).parents[:-1])}
    folders = [option for path in ["/etc", "/home", "/srv", *parents] for option in ("--perms", "755", "--dir", path)]
    etc = [option for path in NETWORK_ETC for option in ("--ro-bind-try", f"/etc/{path}", f"/etc/{path}")]
    contents = [option for path, each in files.items() for option in ("--perms", "644", "--file", str(each), path)]
    drop = ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", "--inh-caps=-all", "--bounding-set=-all"]
    return [
        "unshare", "--fork", "--kill-child", "--",  # it outlives the Hub, which bubblewrap itself would not
        "bwrap", "--die-with-parent", *(["--unshare-user"] if user is None else []),
        "--unshare-pid", "--unshare-ipc", "--unshare-cgroup-try",
        *folders, *bind_system(), *etc, "--ro-bind", str(ETC / "hosts"), "/etc/hosts",
        "--proc", "/proc", "--dev", "/dev", *keep_in_memory("/dev/shm"), *keep_in_memory("/tmp"),
        *folders,  # once more: the /tmp above hides those of a course that lies below /tmp
        *[option for path in readable for option in ("--ro-bind", path, path)],
        *contents, *options, "--remount-ro", "/", "--chdir", find_home(name), "--",
        *(drop if user is not None else []), *(["--no-new-privs", "--"] if user is not None else []),
        "prlimit", "--core=0", "--", *command,
    ]  # fmt: skip


def make_environment(name):
    """Return the variables that a student's server has besides those of the Hub."""
    home = find_home(name)
    ours = str(HOME / "course" / "student" / "jupyter")
    return {
        "PATH": f"{Path(sys.prefix) / 'bin'}:/usr/local/bin:/usr/bin:/bin",
        "HOME": home,
        "USER": name,
        "SHELL": "/bin/bash",
        "LANG": "C.UTF-8",
        "COURSE_WORK": f"{home}/work",
        "COURSE_FEEDBACK": FEEDBACK,
        "COURSE_DATA": str(data.cache()),
        "COURSE_ENGINE_QUEUE": f"{QUEUE}/socket",
        "JUPYTER_RUNTIME_DIR": "/tmp/jupyter",  # short, since the paths of kernels' Unix sockets begin with it
        "MALLOC_ARENA_MAX": "2",  # a kernel's many threads need no arena each, and memory is what a class lacks
        "JUPYTER_PATH": ours,
        "JUPYTER_CONFIG_PATH": ours,
    }


def make_files(name, user, course):
    """Return path -> text of the files that only this sandbox has: its accounts, and nbgrader's configuration."""
    user = os.geteuid() if user is None else user
    return {
        "/etc/passwd": f"root:x:0:0::/root:/bin/bash\n{name}:x:{user}:{user}::{find_home(name)}:/bin/bash\n"
        "nobody:x:65534:65534::/nonexistent:/usr/sbin/nologin\n",
        "/etc/group": f"root:x:0:\n{name}:x:{user}:\nnogroup:x:65534:\n",
        "/etc/jupyter/nbgrader_config.py": f"c = get_config()\nc.CourseDirectory.course_id = {course!r}\n"
        f"c.CourseDirectory.student_id = {name!r}\nc.Exchange.root = {EXCHANGE!r}\n",
    }
