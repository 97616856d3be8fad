"""A kernel whose student sends messages that no kernel sends: every call still returns."""

import pytest

from autograder.examination.checks import run_check
from autograder.examination.kernel import Kernel, KernelLost
from autograder.examination.outputs import Outputs, make_error

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
    __import__("sys").modules["autograder.examination.agent"].line.send_multipart(parts)
"""
LATE = """
import sys

def late():
    for text in ("", "x", "= 3", "0 = 3", "1 = 3", "999 = 3"):
        sys.modules["autograder.examination.agent"].line.send(text.encode())
    return 4

def large():
    sys.modules["autograder.examination.agent"].line.send(b"x" * (4 * 64 * 2**20))
    return 4

def sleeps():
    import time
    try:
        time.sleep(60)
    except BaseException:
        return 3
    return 3

def dies():
    raise sys.modules["autograder.examination.agent"].NoMoreQuestions

def right(function):
    return function(2) + 1
"""


@pytest.mark.parametrize("message", ODD, ids=str)
def test_an_output_of_another_form_is_ignored(message):
    outputs = Outputs()
    outputs.add(*message)
    assert outputs.list == []


def test_half_characters_and_huge_errors_can_be_written_to_a_file():
    outputs = Outputs()
    outputs.add("stream", {"name": "stdout", "text": "\ud800 is half"})
    for _ in range(10):
        outputs.add("error", {"ename": "E", "evalue": "x" * 10**6, "traceback": ["x" * 10**6]})
    assert outputs.list[0].text == "? is half" and sum(len(str(each)) for each in outputs.list) < 2_000_000
    assert make_error("Kind", "\udfff")["evalue"] == "?"


@pytest.mark.parametrize("parent", ["kernel.get_parent()", "{}", "'x'"])
def test_messages_of_any_form_on_every_channel_cost_the_cell_alone(parent):
    with Kernel() as kernel:
        kernel.run(SEND.format(parent=parent), 20)
        (output,) = kernel.run("print(1 + 1)", 20)
        assert output.text == "2\n"


ASKS = """
import sys

agent = sys.modules["autograder.examination.agent"]

def asks():
    while True:
        agent.line.send(f"{agent.question_number} 1 x".encode())
"""


@pytest.mark.long
def test_a_kernel_that_asks_without_end_and_reads_no_answer_costs_its_check_alone():
    with Kernel() as kernel:
        kernel.run(ASKS, 20)
        try:
            assert "did not finish within 3 seconds" in run_check("asks()", kernel, 3)
        except KernelLost:  # as an examination would do
            kernel.stop()
            kernel.start()
        kernel.run(LATE, 20)
        assert run_check("assert right(lambda x: 3 * x) == 7", kernel, 20) is None


def test_a_check_after_one_that_was_cut_off_receives_nothing_of_it():
    with Kernel() as kernel:
        kernel.run(LATE, 20)
        for cut_off in ("late() == 3", "dies() == 3", "sleeps() == 3", "dies() == 3 or dies() == 3"):
            assert run_check(f"assert {cut_off}", kernel, 2) is not None, cut_off
            assert run_check("assert right(lambda x: 3 * x) == 7", kernel, 5) is None, cut_off


@pytest.mark.long
def test_a_text_beyond_all_limits_is_not_received_and_every_check_still_ends():
    with Kernel() as kernel:
        kernel.run(LATE, 20)
        for check in ("assert large() == 4", "assert right(lambda x: 3 * x) == 7"):
            hint = run_check(check, kernel, 2)  # None if the line is back in time
            assert hint is None or "did not finish" in hint
        (output,) = kernel.run("print(1 + 1)", 20)
        assert output.text == "2\n"


LOSES_ITS_REPLY = """
session = get_ipython().kernel.session
sends = session.send

def lose_one(stream, kind, content=None, *args, **kwargs):
    if kind != "execute_reply":
        return sends(stream, kind, content, *args, **kwargs)
    session.send = sends
    return {"content": content}

session.send = lose_one
"""


def test_a_kernel_whose_reply_is_lost_goes_on_once_it_is_idle():
    with Kernel() as kernel:
        kernel.run(LOSES_ITS_REPLY, 10)
        (output,) = kernel.run("print(1 + 1)", 10)
        assert output.text == "2\n"


BREAKS = {
    "the shared context": "import zmq\nzmq.Context.instance().destroy(linger=0)",
    "a fork that comes back": "import os\ndef forks():\n    os.fork()\n    return 1",
}


@pytest.mark.parametrize("broken", BREAKS.values(), ids=BREAKS)
def test_code_that_breaks_the_sockets_of_its_process_costs_no_other_check(broken):
    with Kernel() as kernel:
        kernel.run(LATE + broken, 20)
        run_check("forks()", kernel, 3)
        assert run_check("assert right(lambda x: 3 * x) == 7", kernel, 10) is None
