"""What a run leaves behind in an engine's process because its function did not end it, and ending that.

A framework allows one default group per process. If a function joins one and does not leave it, the next run cannot
join its own. What an engine had joined before a run, as in a `%px` cell, stays. Touches these frameworks and nothing
else, and imports none of them: what has not been imported is not active.
"""

import sys
import threading

SECONDS_TO_END = 3  # one of them, which takes milliseconds; torch's RPC waits for what it runs for other ranks
HOROVOD = ("horovod.torch.mpi_ops", "horovod.tensorflow.mpi_ops")  # each has its own copy of Horovod's state


def _ends_process_group():
    dist = sys.modules.get("torch.distributed")
    if dist and dist.is_available() and dist.is_initialized():
        return dist.destroy_process_group
    return None


def _ends_rpc():
    rpc = sys.modules.get("torch.distributed.rpc")
    if rpc and rpc.is_available() and rpc._is_current_rpc_agent_set():  # torch 2.13 has no public question for it
        return lambda: rpc.shutdown(graceful=False)  # without waiting for ranks that have ended
    return None


def _forget_rpc_counters():
    """Let the next `init_rpc` count from 0, as in a new process.

    RPC finds its partners by numbers that each process counts up: its `init_rpc` and its rounds of `rpc.shutdown`.
    After a run that failed on some ranks, or an engine that was restarted, these counts differ between the ranks, and
    the next `init_rpc` or `rpc.shutdown` would wait in vain. torch 2.13 has no public way to set them back.
    """
    rpc = sys.modules.get("torch.distributed.rpc")
    if rpc and rpc.is_available() and not rpc._is_current_rpc_agent_set():
        rpc._init_counter = 0
        rpc.api._all_gather_sequence_id.clear()
        rpc.api._all_gather_sequence_id_to_states.clear()


def _ends_horovod():
    libraries = [sys.modules[name] for name in HOROVOD if name in sys.modules]
    active = [library for library in libraries if library.is_initialized()]
    return (lambda: [library.shutdown() for library in active]) if active else None


KINDS = {"torch's RPC": _ends_rpc, "torch's process group": _ends_process_group, "Horovod": _ends_horovod}


def list_active():
    """Return the names of what is active in this process, a list of keys of KINDS."""
    return [name for name, find_end in KINDS.items() if find_end()]


def end_all(before=()):
    """End what is active, apart from what was active before: a list from `list_active`.

    Returns a list of (name, why) of what could not be ended. This process must then end.
    """
    failed = []
    for name in [name for name in list_active() if name not in before]:
        thread = threading.Thread(target=_end, args=(name, failed), name=f"{name} ends", daemon=True)
        thread.start()
        thread.join(SECONDS_TO_END)
        if thread.is_alive():
            failed.append((name, f"it was not over after {SECONDS_TO_END} s"))
    _forget_rpc_counters()
    return failed


def _end(name, failed):
    """End what has this name in KINDS; add (name, why) to `failed` if that cannot be done."""
    try:
        KINDS[name]()()
    except Exception as error:
        failed.append((name, f"{type(error).__name__}: {error}"))
