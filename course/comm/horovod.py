"""The horovod carrier: runs a function on engines as `horovodrun` runs a program, with Horovod's own calls.

The ranks find everything prepared for `hvd.init()`, which they call themselves: Horovod's variables in their
environment, and a new rendezvous server for each run, in rank 0's process. When the function of a rank has ended, the
rank leaves Horovod, as at the end of a program. Horovod then ends the calls in which other ranks still wait for it, so
a collective that one rank skips ends at once. If ranks wait for one another in different calls, Horovod gives up after
SECONDS_APART. The communicator's messages travel over the sockets of the local carrier.
"""

import os
import re
import socket
import sys
import threading
import weakref
from typing import ClassVar

from course.comm import wire
from course.comm.leftovers import HOROVOD
from course.comm.local import SocketCarrier

SECONDS_APART = 8  # that one rank may reach a collective after another (checked every 2 s)
LEFT_ALONE = re.compile(  # words in Horovod's errors when another rank is gone
    r"Horovod has been shut down|Connection (closed|reset) by peer|Broken pipe|Connection refused", re.IGNORECASE
)
SETTINGS = {
    "HOROVOD_CONTROLLER": "gloo",
    "HOROVOD_CPU_OPERATIONS": "gloo",
    "HOROVOD_GLOO_TIMEOUT_SECONDS": "3600",  # the notebook decides what takes too long
    "HOROVOD_STALL_CHECK_TIME_SECONDS": "2",
    "HOROVOD_STALL_SHUTDOWN_TIME_SECONDS": str(SECONDS_APART),
    "HOROVOD_LOG_LEVEL": "fatal",  # the error of the run says all of it
}


class HorovodCarrier(SocketCarrier):
    """A rank of a run under Horovod."""

    variables: ClassVar = {}

    def __init__(self, rank, size, reporter, secret, directory, name):
        from horovod.runner.http.http_server import RendezvousServer

        super().__init__(rank, size, reporter, secret, directory, name)
        port = None
        if rank == 0:
            server = RendezvousServer()
            port = server.start()
            self.stop_server = weakref.finalize(self, _stop, server)  # also if the run does not begin
            self.stop_server.atexit = False
        host = "127.0.0.1" if directory else wire.list_own_hosts()[0]
        self.address = self.address, host, port, socket.gethostname()

    def meet(self, addresses, number):
        links, hosts, ports, machines = zip(*addresses, strict=True)
        super().meet(links, number)
        leave()  # an earlier run, or `course.horovod.start`, may have left this process joined
        here = [rank for rank in range(self.size) if machines[rank] == machines[self.rank]]
        names = list(dict.fromkeys(machines))
        # The machines that have a rank with the same local number
        peers = [name for name in names if machines.count(name) > here.index(self.rank)]
        self.variables = SETTINGS | {
            "HOROVOD_GLOO_RENDEZVOUS_ADDR": hosts[0],
            "HOROVOD_GLOO_RENDEZVOUS_PORT": str(ports[0]),
            "HOROVOD_HOSTNAME": machines[self.rank],
            "HOROVOD_RANK": str(self.rank),
            "HOROVOD_SIZE": str(self.size),
            "HOROVOD_LOCAL_RANK": str(here.index(self.rank)),
            "HOROVOD_LOCAL_SIZE": str(len(here)),
            "HOROVOD_CROSS_RANK": str(peers.index(machines[self.rank])),
            "HOROVOD_CROSS_SIZE": str(len(peers)),
        }
        if self.directory:
            self.variables["HOROVOD_GLOO_IFACE"] = "lo"
        os.environ.update(self.variables)

    def leave(self):
        if not self.stays_joined:
            leave()

    def is_left_alone(self, error):
        return LEFT_ALONE.search(str(error)) is not None

    def release(self):
        super().release()
        for name in self.variables:  # without them a later `hvd.init()` makes a single rank
            os.environ.pop(name, None)
        if self.rank == 0:
            self.stop_server()


def _stop(server):
    """Stop a rendezvous server in the background, since that takes half a second."""

    def stop():
        server.stop()
        server._httpd.server_close()

    threading.Thread(target=stop, name="rendezvous ends", daemon=True).start()


def leave():
    """Leave Horovod if this process has joined it; ranks that wait for this one get an error."""
    for name in HOROVOD:
        if name in sys.modules:
            sys.modules[name].shutdown()
