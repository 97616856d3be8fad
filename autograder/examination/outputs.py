"""The outputs of one cell, as notebook outputs: bounded in size, and well-formed whatever student code sends."""

import json

import nbformat
from nbformat.v4 import new_output, output_from_msg

MAX_OUTPUT = 500_000  # characters that a cell may leave behind, and as many again for errors
MAX_ERROR = 4000  # characters that are kept of an error which alone is larger


class Outputs:
    """The outputs of one cell, in `list`; `room` is the number of characters that are left for more."""

    def __init__(self):
        self.list, self.room = [], MAX_OUTPUT
        self.reply = {}  # the kernel's reply to the request

    def add_error_of_reply(self):
        """Add the error that the kernel's reply tells of, if none was shown: student code can turn showing off."""
        if self.reply.get("status") != "error" or any(output.output_type == "error" for output in self.list):
            return
        name, message = (str(self.reply.get(key, ""))[:MAX_ERROR] for key in ("ename", "evalue"))
        self.list.append(make_error(name, message))

    def add(self, kind, content):
        """Add what one iopub message shows, while there is room; a message that no kernel sends is ignored."""
        if kind not in ("stream", "error", "display_data", "execute_result"):
            return
        if self.room <= (-MAX_OUTPUT if kind == "error" else 0):
            return
        try:
            message = {"header": {"msg_type": kind}, "content": as_utf8(content)}
            output = nbformat.from_dict(output_from_msg(message))
            nbformat.validate(output, ref="output", version=4)
        except (KeyError, TypeError, ValueError, AttributeError, RecursionError, nbformat.ValidationError):
            return
        size = len(json.dumps(output))
        if kind == "error" and size > MAX_OUTPUT:
            output.traceback = [output.evalue[:MAX_ERROR]]
            output.ename, output.evalue = output.ename[:MAX_ERROR], output.evalue[:MAX_ERROR]
            size = len(json.dumps(output))
        self.room -= size
        if self.room <= 0 and kind != "error":
            self.list.append(new_output("stream", name="stdout", text="\n[further output is left out]\n"))
            return
        last = self.list[-1] if self.list else {}
        if output.output_type == "stream" == last.get("output_type") and output.name == last.name:
            last.text += output.text
        else:
            self.list.append(output)


def make_error(kind, message):
    """Return an error output that says one thing."""
    message = as_utf8(message)
    return new_output("error", ename=kind, evalue=message, traceback=[message])


def as_utf8(value):
    """Return the same JSON value with "?" for lone surrogates, which Python can hold and a file cannot."""
    return json.loads(json.dumps(value, ensure_ascii=False).encode(errors="replace"))
