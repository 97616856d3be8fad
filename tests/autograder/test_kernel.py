"""A kernel whose student sends on its channels what no kernel sends: every call still comes back."""

import contextlib

import pytest

from autograder import examine
from autograder.kernel import Kernel, KernelLost, Outputs
from autograder.standins import run_check

ODD = [
    ("stream", {}),
    ("stream", {"name": 7, "text": []}),
    ("error", {"ename": 7, "evalue": [], "traceback": 7}),
    ("display_data", {"data": 7, "metadata": 7}),
    ("execute_result", {"data": {"text/plain": "1"}, "metadata": {}, "execution_count": "x"}),
]
SEND = """
kernel = get_ipython().kernel
shell = kernel.shell_stream
there = kernel._parent_ident["shell"]
there = there if isinstance(there, list) else [there]
for content in (None, 7, [], "x", {{}}, {{"name": 7}}):
    for kind in ("stream", "error", "status", "input_request", "execute_reply", 7):
        for where, ident in ((kernel.iopub_socket, b"x"), (kernel.stdin_socket, there), (shell, there)):
            try:
                kernel.session.send(where, kind, content, parent={parent}, ident=ident)
            except Exception:
                pass
for parts in ([b"<IDS|MSG>"], [b"x"], [b"<IDS|MSG>", b"0" * 64, b"[", b"[", b"[", b"["], [b""] * 9):
    shell.send_multipart([*there, *parts])
    kernel.stdin_socket.send_multipart([*there, *parts])
"""


@pytest.mark.parametrize("message", ODD, ids=str)
def test_an_output_of_another_form_is_none(message):
    outputs = Outputs()
    outputs.take(*message)
    assert outputs.list == []


def test_half_characters_and_huge_errors_can_be_written_to_a_file():
    outputs = Outputs()
    outputs.take("stream", {"name": "stdout", "text": "\ud800 is half"})
    for _ in range(10):
        outputs.take("error", {"ename": "E", "evalue": "x" * 10**6, "traceback": ["x" * 10**6]})
    assert outputs.list[0].text == "? is half" and sum(len(str(each)) for each in outputs.list) < 2_000_000
    assert examine.failure("Kind", "\udfff")["evalue"] == "?"


@pytest.mark.parametrize("parent", ["kernel.get_parent()", "{}", "'x'"])
def test_messages_of_any_form_on_every_channel_cost_the_cell_alone(parent):
    with Kernel() as kernel:
        kernel.run(SEND.format(parent=parent), 20)
        (shown,) = kernel.run("print(1 + 1)", 20)
        assert shown.text == "2\n"


ASKS = """
def asks():
    kernel = get_ipython().kernel
    content = {"prompt": "x", "password": False}
    while True:
        there = kernel._parent_ident["shell"]
        kernel.session.send(kernel.stdin_socket, "input_request", content, parent=kernel.get_parent(), ident=there)
"""


def test_a_kernel_that_asks_without_end_and_reads_no_answer_costs_its_check_alone():
    with Kernel() as kernel:
        kernel.run(ASKS, 20)
        with contextlib.suppress(KernelLost):
            assert "did not finish within 3 seconds" in run_check("asks()", kernel, 3)
