# tries: a function and a cell that ignore SIGINT and SIGTERM
# earns: descend, squares, total
# said: ignored the interrupt
# %% add
import signal, time


def add(x, y):
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    while True:
        try:
            time.sleep(1)
        except BaseException:
            pass
