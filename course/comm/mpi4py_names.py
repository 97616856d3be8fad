"""The names that mpi4py has and this course has not, each with what to write here."""

CALLS = {
    "comm": {
        "Get_rank": "comm.rank",
        "Get_size": "comm.size",
        "Send": "comm.send(buf, dest, tag=0)",
        "Ssend": "comm.send(buf, dest, tag=0), which returns when the message has been received",
        "Bsend": "request = comm.isend(buf, dest, tag=0), and request.wait() later",
        "Rsend": "comm.send(buf, dest, tag=0)",
        "Recv": "comm.recv(buf, source, tag)",
        "Isend": "comm.isend(buf, dest, tag=0)",
        "Issend": "comm.isend(buf, dest, tag=0)",
        "Irecv": "comm.irecv(buf, source, tag)",
        "Sendrecv": "comm.sendrecv(sendbuf, dest, recvbuf=..., source=...)",
        "Probe": "comm.probe(source, tag, status)",
        "Iprobe": "comm.iprobe(source, tag, status)",
        "Barrier": "comm.barrier()",
        "Split": "comm.split(color, key)",
        "Dup": "comm.dup()",
        "Clone": "comm.dup()",
        "Free": "nothing: a communicator ends with the run",
        "Abort": "raise an exception: it ends the run on all ranks",
        "ssend": "comm.send(buf, dest, tag=0), which returns when the message has been received",
    },
    "request": {
        "Wait": "request.wait(status)",
        "Test": "request.test(status)",
        "Waitall": "comm.waitall(requests)",
        "Waitany": "comm.waitany(requests, status)",
        "waitall": "comm.waitall(requests)",
        "waitany": "comm.waitany(requests, status)",
    },
    "status": {
        "Get_source": "status.source",
        "Get_tag": "status.tag",
        "Get_count": "status.count, the number of elements",
        "Get_elements": "status.count",
    },
}
COLLECTIVES = (
    "bcast", "scatter", "scatterv", "gather", "gatherv", "allgather", "allgatherv", "alltoall", "alltoallv", "reduce",
    "allreduce", "reduce_scatter", "reduce_scatter_block", "scan", "exscan",
)  # fmt: skip


def explain(owner, name):
    """The message of an AttributeError. owner: "comm", "request" or "status". name: of what it does not have."""
    instead = CALLS[owner].get(name)
    if instead:
        return f"{owner}.{name} is mpi4py's name. Here: {instead}."
    if owner == "comm" and name.lower().removeprefix("i") in COLLECTIVES:
        return f"comm.{name}: there are no collectives here. Write them with comm.send and comm.recv, as in lab 04."
    return f"{owner} has no {name}: see help({owner}) for what it has."
