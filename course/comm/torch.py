"""The torch carrier: payloads moved by torch.distributed, with Gloo, or with NCCL if each rank has its own GPU.

A send or receive of Gloo or NCCL that finds no partner, or one of another size, cannot be cancelled: it ends the
process or blocks it for good. So the sockets of the local carrier first bring both sides together by tag, dtype and
size (an announcement), and then say that the sender has passed its payload to torch (a second announcement). No rank
ever waits inside torch for a partner that may not come.

CUDA tensors stay on their devices under NCCL. Gloo cannot reach a GPU, and NCCL refuses two ranks on one GPU: in these
cases tensors go through the host's memory.

Programs of torch.distributed itself find their ranks in a run of this carrier:
`dist.init_process_group("gloo", init_method="spmd://")` makes the default group of them, which ends with the run. (The
environment variables of torchrun need a TCPStore, and connecting to one sometimes takes 5 seconds.)
`rpc.init_rpc` takes the same method in its options, and RPC ends with the run, too. Call `comm.barrier()` at the end
instead of `rpc.shutdown()`: the latter counts its calls within each process, so it fails beside a restarted engine.
"""

import datetime
import os
from collections import deque

import numpy as np
import torch
import torch.distributed as dist
from torch.distributed.rendezvous import register_rendezvous_handler

from course.comm import wire
from course.comm.buffers import ON_GPU, Buffer
from course.comm.local import SocketCarrier
from course.comm.transfer import ANY_TAG, Transfer
from course.errors import Problem

TIMEOUT = datetime.timedelta(seconds=30)  # to meet, and for a payload whose partner has died in the meantime
NO_BYTES = np.empty(0, np.uint8)
HANDED_OVER = -(2**62)  # added to a tag for the second announcement, which no receive from any rank takes
LOOK = 0.001  # seconds between looks at NCCL's work, whose end no socket reports


class Announcement:
    """The buffer of a message without payload, which says what another message holds."""

    data, nbytes = NO_BYTES, 0
    __str__ = Buffer.__str__

    def __init__(self, buffer, count, on_gpu):
        self.dtype, self.count = buffer.dtype + ON_GPU * on_gpu, count

    def finish(self, count):
        """Nothing to do: no payload has come."""


class TorchCarrier(SocketCarrier):
    """Moves payloads by torch.distributed, and announces them over sockets."""

    current = None  # the carrier of the run under way

    def __init__(self, rank, size, reporter, secret, directory, name):
        super().__init__(rank, size, reporter, secret, directory, name)
        self.store = self.nccl = None
        self.stages = {}  # id of an announcement -> (the announcement, the transfer announced, torch's work)
        self.to_itself = {}  # tag -> sends of this rank to itself that it has not received
        self.groups = 0  # default groups made so far
        self.moving = []  # (work of NCCL, transfer)
        self.handed_over = {}  # (sends, peer) -> number of payloads passed to torch
        self.host, port = "127.0.0.1" if directory else wire.list_own_hosts()[0], None
        if directory:
            self.store = dist.FileStore(str(directory / f"{name.rpartition('-')[0]}-store"), size)
        elif rank == 0:
            self.store = dist.TCPStore(self.host, 0, size, True, TIMEOUT, wait_for_workers=False, use_libuv=False)
            port = self.store.port
        self.address = self.address, self.host, port, _find_gpu()

    def meet(self, addresses, number):
        """Make the groups, as every rank of the run does at the same time."""
        links, hosts, ports, gpus = zip(*addresses, strict=True)
        super().meet(links, number)
        if self.store is None:
            self.store = dist.TCPStore(hosts[0], ports[0], self.size, False, TIMEOUT, use_libuv=False)
        options = dist.ProcessGroupGloo._Options()
        options._timeout = TIMEOUT
        options._devices = [dist.ProcessGroupGloo.create_device(hostname=self.host)]
        self.gloo = dist.ProcessGroupGloo(dist.PrefixStore("gloo", self.store), self.rank, self.size, options)
        if self.size > 1 and dist.is_nccl_available() and None not in gpus and len(set(gpus)) == self.size:
            # one group per direction: within a group, NCCL moves the messages between two ranks one after the other
            stores = [dist.PrefixStore(name, self.store) for name in ("up", "down")]
            self.nccl = [dist.ProcessGroupNCCL(store, self.rank, self.size, TIMEOUT) for store in stores]
        if self.host == "127.0.0.1":
            os.environ["GLOO_SOCKET_IFNAME"] = "lo"  # otherwise torch asks a name server for this machine's address
        TorchCarrier.current = self

    def begin(self, transfer):
        if transfer.probes:
            super().begin(transfer)
            return
        if transfer.sends and transfer.peer == self.rank:
            self.to_itself.setdefault(transfer.tag, deque()).append(transfer)
        self.announce(transfer, transfer.tag)

    def announce(self, transfer, tag, work=None):
        """Exchange a message without payload with the other side of a transfer."""
        buffer = Announcement(transfer.buffer, transfer.count, self.uses_nccl(transfer))
        announcement = Transfer(transfer.sends, transfer.peer, tag, buffer, transfer.step, self.now())
        announcement.not_before = transfer.not_before
        self.stages[id(announcement)] = announcement, transfer, work
        super().begin(announcement)

    def finish(self, announcement, step):
        """Continue with the transfer whose announcement has come through."""
        _, transfer, work = self.stages.pop(id(announcement))
        announcement.result = step
        is_first = announcement.tag >= ANY_TAG
        if is_first:
            self.note_message(announcement, transfer)
            transfer.began, transfer.result = max(announcement.began, transfer.posted), step
            if transfer.peer == self.rank and not transfer.sends:
                sent = self.to_itself[transfer.tag].popleft()
                transfer.buffer.data[: sent.nbytes] = sent.buffer.data  # torch cannot send from a rank to itself
            if not transfer.nbytes or transfer.peer == self.rank:
                super().finish(transfer, step)
                return
        try:
            if is_first:
                work = self.hand_over(transfer) if transfer.sends else None
            else:
                work = work or self.hand_over(transfer)
                if not self.uses_nccl(transfer):
                    work.wait()  # torch has both sides, so this takes no longer than the bytes do
        except RuntimeError:
            return  # the other rank has died, as the notebook knows
        if is_first:
            self.announce(transfer, transfer.tag + HANDED_OVER, work)
        elif self.uses_nccl(transfer):
            self.moving.append((work, transfer))
        else:
            super().finish(transfer, transfer.result)

    def mismatch(self, announcement, error):
        transfer = self.stages.pop(id(announcement))[1]
        self.note_message(announcement, transfer)
        transfer.began = announcement.began
        if transfer.peer == self.rank:
            self.to_itself[transfer.tag].popleft()
        super().mismatch(transfer, error)

    def note_message(self, announcement, transfer):
        """Let a transfer know what its announcement says of its message."""
        transfer.peer, transfer.tag, transfer.count = announcement.peer, announcement.tag, announcement.count
        transfer.nbytes = transfer.buffer.nbytes // max(transfer.buffer.count, 1) * transfer.count

    def hand_over(self, transfer):
        """Pass a payload to torch to send or receive; returns torch's work."""
        link = transfer.sends, transfer.peer
        number = self.handed_over[link] = self.handed_over.get(link, 0) + 1
        source, dest = (self.rank, transfer.peer) if transfer.sends else (transfer.peer, self.rank)
        if self.uses_nccl(transfer):
            group, whole = self.nccl[source < dest], transfer.buffer.tensor.reshape(-1).view(torch.uint8)
        else:
            data = transfer.buffer.data
            group, whole = self.gloo, torch.from_numpy(data if data.flags.writeable else data.copy())
        tensor = whole[: transfer.nbytes]
        return group.send([tensor], dest, number) if transfer.sends else group.recv([tensor], source, number)

    def uses_nccl(self, transfer):
        return self.nccl is not None and transfer.buffer.tensor is not None

    def advance(self):
        done = [each for each in self.moving if each[0].is_completed()]
        for each in done:
            self.moving.remove(each)
            super().finish(each[1], each[1].result)
        return super().advance() or bool(done)

    def wait_for_event(self, seconds, control):
        has_question, has_work = super().wait_for_event(min(seconds, LOOK) if self.moving else seconds, control)
        return has_question, has_work or bool(self.moving)

    def release(self):
        super().release()
        for group in self.nccl or ():
            group.abort()
        if dist.is_initialized():
            dist.destroy_process_group()
        TorchCarrier.current = None


def _meet_by_spmd(url, timeout=TIMEOUT, **_):
    """Yields store, rank and number of ranks of this run, for `init_process_group(init_method="spmd://")`."""
    carrier = TorchCarrier.current
    if carrier is None:
        raise Problem('init_method="spmd://" works only in a function that spmd runs with carrier="torch".')
    carrier.groups += 1
    yield dist.PrefixStore(f"default-{carrier.groups}", carrier.store), carrier.rank, carrier.size


register_rendezvous_handler("spmd", _meet_by_spmd)


def _find_gpu():
    """The name of the first GPU that this process sees, None without one."""
    return str(torch.cuda.get_device_properties(0).uuid) if torch.cuda.is_available() else None
