"""The torch carrier: payloads moved by torch.distributed, with Gloo, and with NCCL where each rank has its own GPU.

A send or receive of Gloo or NCCL that finds no partner, or one of another size, cannot be taken back: it ends the
process or blocks it for good. So the sockets of the local carrier first bring both sides together, by tag, dtype and
size (an announcement), and say when the sender has handed its payload to torch (a second one). Nothing ever waits
inside torch for a partner that may not come.

CUDA tensors stay on their devices under NCCL. Gloo has no way to a GPU, and NCCL refuses two ranks on one: there they
go through the host's memory.

A run of this carrier is also a place where torch.distributed's own programs find their ranks:
`dist.init_process_group("gloo", init_method="spmd://")` makes the default group of them. It ends with the run. (The way
of torchrun, environment variables, needs a TCPStore, and to connect to one sometimes takes 5 seconds.)
"""

import datetime
import os

import numpy as np
import torch
import torch.distributed as dist
from torch.distributed.rendezvous import register_rendezvous_handler

from course.comm import wire
from course.comm.buffers import ON_GPU, Buffer
from course.comm.communicator import Transfer
from course.comm.local import Local
from course.errors import Problem

TIMEOUT = datetime.timedelta(seconds=30)  # to meet, and for a payload whose partner has died meanwhile
NO_BYTES = np.empty(0, np.uint8)
HANDED_OVER = 2**40  # added to a tag for the second announcement
LOOK = 0.001  # seconds between looks at what NCCL does, which no socket tells


class Announcement:
    """The buffer of a message that only says what another one holds."""

    data, nbytes = NO_BYTES, 0
    __str__ = Buffer.__str__

    def __init__(self, buffer, on_gpu):
        self.dtype, self.count = buffer.dtype + ON_GPU * on_gpu, buffer.count

    def finish(self):
        """Nothing has come."""


class Torch(Local):
    """Moves payloads by torch.distributed, and what must be said before by sockets."""

    of_this_run = None  # the carrier of the run under way

    def __init__(self, rank, size, reporter, secret, directory, name):
        super().__init__(rank, size, reporter, secret, directory, name)
        self.store = self.nccl = None
        self.stages = {}  # id of an announcement -> (it, the transfer it stands for, torch's work)
        self.groups = 0  # default groups made so far
        self.moving = []  # (work of NCCL, transfer)
        self.handed_over = {}  # (sends, peer) -> payloads so far
        self.host, port = "127.0.0.1" if directory else wire.own_hosts()[0], None
        if directory:
            self.store = dist.FileStore(str(directory / f"{name.rpartition('-')[0]}-store"), size)
        elif rank == 0:
            self.store = dist.TCPStore(self.host, 0, size, True, TIMEOUT, wait_for_workers=False, use_libuv=False)
            port = self.store.port
        self.address = self.address, self.host, port, _gpu()

    def meet(self, addresses, number):
        """Make the groups; every rank of the run is here and does the same."""
        links, hosts, ports, gpus = zip(*addresses, strict=True)
        super().meet(links, number)
        if self.store is None:
            self.store = dist.TCPStore(hosts[0], ports[0], self.size, False, TIMEOUT, use_libuv=False)
        options = dist.ProcessGroupGloo._Options()
        options._timeout = TIMEOUT
        options._devices = [dist.ProcessGroupGloo.create_device(hostname=self.host)]
        self.gloo = dist.ProcessGroupGloo(dist.PrefixStore("gloo", self.store), self.rank, self.size, options)
        if self.size > 1 and dist.is_nccl_available() and None not in gpus and len(set(gpus)) == self.size:
            # a group for each direction: within one, NCCL does what passes between two ranks one after the other
            stores = [dist.PrefixStore(name, self.store) for name in ("up", "down")]
            self.nccl = [dist.ProcessGroupNCCL(store, self.rank, self.size, TIMEOUT) for store in stores]
        if self.host == "127.0.0.1":
            os.environ["GLOO_SOCKET_IFNAME"] = "lo"  # else torch asks a name server for this machine's address
        Torch.of_this_run = self

    def begin(self, transfer):
        if transfer.peer == self.rank:
            super().begin(transfer)  # torch has no way from a rank to itself
        else:
            self.announce(transfer, transfer.tag)

    def announce(self, transfer, tag, work=None):
        """Exchange a message without payload with the other side of a transfer."""
        buffer = Announcement(transfer.buffer, self.is_by_nccl(transfer))
        told = Transfer(transfer.sends, transfer.peer, tag, buffer, transfer.step, self.now())
        told.not_before = transfer.not_before
        self.stages[id(told)] = told, transfer, work
        super().begin(told)

    def finish(self, told, step):
        """An announcement has come through: go on with what it announced."""
        if told.peer == self.rank:
            super().finish(told, step)
            return
        _, transfer, work = self.stages.pop(id(told))
        told.result = step
        if told.tag < HANDED_OVER:
            transfer.began, transfer.result = max(told.began, transfer.posted), step
            if not transfer.buffer.nbytes:
                super().finish(transfer, step)
                return
        try:
            if told.tag < HANDED_OVER:
                work = self.hand_over(transfer) if transfer.sends else None
            else:
                work = work or self.hand_over(transfer)
                if not self.is_by_nccl(transfer):
                    work.wait()  # both sides have been handed over: it does not take longer than the bytes
        except RuntimeError:
            return  # the other rank has died; the notebook knows
        if told.tag < HANDED_OVER:
            self.announce(transfer, transfer.tag + HANDED_OVER, work)
        elif self.is_by_nccl(transfer):
            self.moving.append((work, transfer))
        else:
            super().finish(transfer, transfer.result)

    def refuse(self, told, error):
        transfer = told if told.peer == self.rank else self.stages.pop(id(told))[1]
        transfer.began = told.began
        super().refuse(transfer, error)

    def hand_over(self, transfer):
        """Have torch send or receive a payload; returns its work."""
        link = transfer.sends, transfer.peer
        number = self.handed_over[link] = self.handed_over.get(link, 0) + 1
        source, dest = (self.rank, transfer.peer) if transfer.sends else (transfer.peer, self.rank)
        if self.is_by_nccl(transfer):
            group, tensor = self.nccl[source < dest], transfer.buffer.tensor.reshape(-1).view(torch.uint8)
        else:
            data = transfer.buffer.data
            group, tensor = self.gloo, torch.from_numpy(data if data.flags.writeable else data.copy())
        return group.send([tensor], dest, number) if transfer.sends else group.recv([tensor], source, number)

    def is_by_nccl(self, transfer):
        return self.nccl is not None and transfer.buffer.tensor is not None

    def progress(self):
        super().progress()
        for each in list(self.moving):
            work, transfer = each
            if work.is_completed():
                self.moving.remove(each)
                super().finish(transfer, transfer.result)

    def something_to_do(self, seconds, control):
        asked, ready = super().something_to_do(min(seconds, LOOK) if self.moving else seconds, control)
        return asked, ready or bool(self.moving)

    def release(self):
        super().release()
        for group in self.nccl or ():
            group.abort()
        if dist.is_initialized():
            dist.destroy_process_group()
        Torch.of_this_run = None


def _rendezvous(url, timeout=TIMEOUT, **_):
    """What `init_process_group(init_method="spmd://")` asks for: store, rank and number of ranks of this run."""
    carrier = Torch.of_this_run
    if carrier is None:
        raise Problem('init_method="spmd://" is for functions that spmd runs with carrier="torch".')
    carrier.groups += 1
    yield dist.PrefixStore(f"default-{carrier.groups}", carrier.store), carrier.rank, carrier.size


register_rendezvous_handler("spmd", _rendezvous)


def _gpu():
    """The name of the GPU that this process sees first, None where there is none."""
    return str(torch.cuda.get_device_properties(0).uuid) if torch.cuda.is_available() else None
