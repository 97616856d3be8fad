# tries: messages with a valid signature and content of every wrong form
# earns: descend, squares, total
# %% add
def add(x, y):
    kernel = get_ipython().kernel
    identity, parent = kernel._parent_ident["shell"], kernel.get_parent()
    odd = [
        None,
        7,
        [],
        "x",
        {"user_expressions": []},
        {"user_expressions": {"answer": 7}},
        {"user_expressions": {"answer": {"data": 1}}},
        {"user_expressions": {"answer": {"data": {"text/plain": 7}}}},
        {"user_expressions": {"answer": {"data": {"text/plain": "(" * 10**5}}}},
    ]
    for content in odd:
        for kind in ("stream", "error", "status", "display_data", "execute_result", "x"):
            try:
                kernel.session.send(kernel.iopub_socket, kind, content, parent=parent, ident=b"x")
            except Exception:
                pass
        try:
            kernel.session.send(kernel.shell_stream, "execute_reply", content, parent=parent, ident=identity)
        except Exception:
            pass
    return x - y
