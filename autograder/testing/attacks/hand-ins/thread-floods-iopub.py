# tries: a thread that publishes endlessly, also after each reply
# earns: add, descend, squares, total
# quick
# %% own
import threading, time


def flood(parent):
    kernel = get_ipython().kernel
    while True:
        kernel.session.send(
            kernel.iopub_socket, "stream", {"name": "stdout", "text": "attacked " * 100}, parent=parent, ident=b"x"
        )
        time.sleep(0.0005)


threading.Thread(target=flood, args=(get_ipython().parent_header,), daemon=True).start()
