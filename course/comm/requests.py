"""What a call of the communicator gives back besides the array: a Request for a transfer under way, and a Status."""

from course.comm.mpi4py_names import explain
from course.comm.transfer import MessageMismatch


class Status:
    """Where a message came from, filled by a receive or a probe that is given it as `status`.

    source: the rank that sent it. tag: its tag. count: its number of elements, which may be fewer than the buffer has;
    of an object the number of bytes. All are None before a message has come. After a receive from PROC_NULL they are
    PROC_NULL, ANY_TAG and 0.
    """

    def __init__(self):
        self.source = self.tag = self.count = None

    def __repr__(self):
        return f"<source {self.source}, tag {self.tag}, {self.count} elements>"

    def __getattr__(self, name):
        raise AttributeError(explain("status", name))


def fill_status(status, transfer, group):
    """Write into a Status, if one is given, what message a receive or a probe has found. group: its communicator's."""
    if status is None:
        return
    try:
        source, tag = group.find_local(transfer.peer, transfer.tag)
        status.source, status.tag, status.count = source, tag, transfer.count
    except AttributeError:
        raise TypeError(f"status must be a Status, made by status = Status(), and not {status!r}.") from None


class Request:
    """A transfer that `isend` or `irecv` has begun."""

    def __init__(self, comm, transfer):
        self._comm, self._transfer, self._is_done = comm, transfer, False

    def __getattr__(self, name):
        raise AttributeError(explain("request", name))

    def wait(self, status=None):
        """Return when the transfer is done: the filled buffer for an `irecv`, None for an `isend`.

        status: a Status to fill for an `irecv`. Raises MessageMismatch if the message does not fit the buffer.
        """
        if not self._is_done:
            self._comm._wait("wait", [self._transfer])
            self._end()
        return self._return(status)

    def test(self, status=None):
        """Return at once whether the transfer is done; after True the buffer is filled, and `wait` is not needed.

        status: a Status to fill if an `irecv` is done. Raises MessageMismatch if the message does not fit the buffer,
        RuntimeError on simulated ranks if a program tests again and again and lets no time pass.
        """
        if not self._is_done and self._comm._test(self._transfer):
            self._end()
        if self._is_done:
            self._return(status)
        return self._is_done

    def _end(self):
        """Note that the transfer is done and counted."""
        self._is_done = True
        self._comm._open.discard(self)

    def _return(self, status):
        """What `wait` returns; fills the status."""
        if self._transfer.sends:
            return None
        fill_status(status, self._transfer, self._comm._group)
        return self._transfer.buffer.given


def list_waiting(requests):
    """Those of `requests` that are not done and counted. Raises TypeError if one is no request."""
    for request in requests:
        if not isinstance(request, Request):
            raise TypeError(f"{request!r} is not a request: pass a list of what isend and irecv have returned.")
    return [request for request in dict.fromkeys(requests) if not request._is_done]


def has_come(transfer, now):
    """Whether a transfer is done at `now` on the carrier's clock.

    Raises MessageMismatch if its message does not fit the buffer.
    """
    if transfer.done is None or transfer.done > now:
        return False
    if isinstance(transfer.result, MessageMismatch):
        raise transfer.result
    return True
