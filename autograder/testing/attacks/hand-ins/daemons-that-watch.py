# tries: a process that starts a copy whenever one is killed, and kills whatever it finds
# earns: add, descend, squares, total
# %% own
import os, subprocess, sys

keeper = """
import os, signal, time
for number in (1, 2, 3, 15):
    signal.signal(number, signal.SIG_IGN)
while True:
    if os.fork() == 0:
        os.setsid()
        time.sleep(0.2)
        os._exit(0)
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass
    time.sleep(0.05)
"""
for _ in range(4):
    subprocess.Popen([sys.executable, "-c", keeper], start_new_session=True)
