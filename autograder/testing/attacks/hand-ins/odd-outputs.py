# tries: outputs with a valid signature and content of every wrong form, while a cell runs
# earns: add, descend, squares, total
# quick
# %% own
kernel = get_ipython().kernel
for content in (
    None,
    7,
    [],
    "x",
    {},
    {"name": 7, "text": []},
    {"name": "stdout", "text": 7},
    {"data": 7, "metadata": 7},
    {"ename": 7, "evalue": [], "traceback": 7},
):
    for kind in ("stream", "error", "status", "display_data", "execute_result", "x"):
        try:
            kernel.session.send(kernel.iopub_socket, kind, content, parent=kernel.get_parent(), ident=b"x")
        except Exception:
            pass
