"""Ranges of free ports, for programs of a test whose configuration must name their ports."""

import secrets
import socket
from contextlib import ExitStack, suppress

PORTS = 30  # in a range; ipyparallel's controller uses 18


def find_free_ports():
    """Return a range of free ports, as "20000-20029".

    They lie outside the range from which the system chooses ports for other programs.
    """
    while True:
        first = 10_000 + secrets.randbelow(22_000)  # not `random`: a test may have seeded it
        with suppress(OSError), ExitStack() as sockets:
            for port in range(first, first + PORTS):
                sockets.enter_context(socket.socket()).bind(("127.0.0.1", port))
            return f"{first}-{first + PORTS - 1}"
