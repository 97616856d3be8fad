# tries: ptrace, the memory of other processes, and memory and devices of the machine
# earns: descend, squares, total
# quick
# %% add
import ctypes, os


def add(x, y):
    libc = ctypes.CDLL(None, use_errno=True)
    for pid in [places["pid"], os.getppid(), 1]:
        if libc.ptrace(16, pid, 0, 0) == 0 and pid not in (1, os.getppid()):  # PTRACE_ATTACH
            return x + y
    for device in (
        "/dev/mem",
        "/dev/kmem",
        "/dev/port",
        "/dev/sda",
        "/dev/vda",
        "/dev/fuse",
        "/dev/kvm",
        "/proc/kcore",
        "/dev/tty1",
    ):
        try:
            with open(device, "rb") as file:
                file.read(1)
            return x + y
        except OSError:
            pass
    for setting in (
        "/proc/sys/kernel/core_pattern",
        "/proc/sysrq-trigger",
        "/sys/fs/cgroup/memory/tasks",
        "/proc/1/oom_score_adj",
        "/proc/sys/vm/overcommit_memory",
    ):
        try:
            with open(setting, "w") as file:
                file.write("0")
            return x + y if "oom" not in setting else "harmless"
        except OSError:
            pass
    return "nothing was found"
