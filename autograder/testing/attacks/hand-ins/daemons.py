# tries: processes that outlive the cell: forked twice, in their own sessions, without signals and environment
# earns: add, descend, squares, total
# quick
# %% own
import os, signal, subprocess, sys

for _ in range(3):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            for number in range(1, 32):
                if number not in (signal.SIGKILL, signal.SIGSTOP):
                    signal.signal(number, signal.SIG_IGN)
            os.execve("/bin/sleep", ["attacked-daemon", "86399"], {})
        os._exit(0)
subprocess.Popen(
    ["nohup", "setsid", "sh", "-c", "trap '' TERM INT HUP; while :; do echo attacked > /tmp/attacked; sleep 1; done"]
)
