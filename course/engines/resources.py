"""What engines share on this machine: cores, GPUs and ports. Reads the machine and changes nothing."""

import os
import secrets
import shutil
import socket
import subprocess
from contextlib import ExitStack, suppress

SECONDS_TO_COUNT_GPUS = 20  # a driver that has not answered by then has no usable GPUs
CONTROLLER_PORTS = 30  # a controller uses 18


def share_cores(n):
    """Return environment variables that divide this machine's cores among `n` engines.

    Variables that are already set are left out, so the user's own choice stays.
    """
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    share = str(max(1, cores // n))
    # OpenBLAS starts its threads when numpy is imported, and a process with threads cannot be forked safely.
    wanted = {"OMP_NUM_THREADS": share, "MKL_NUM_THREADS": share, "OPENBLAS_NUM_THREADS": "1"}
    return {name: value for name, value in wanted.items() if name not in os.environ}


def start_counting_gpus():
    """Start counting the GPUs, without touching them.

    Returns a function that waits for the count and returns CUDA_VISIBLE_DEVICES in a dict, or {} where there are no
    GPUs or the user has set that variable.
    """
    if "CUDA_VISIBLE_DEVICES" in os.environ or not (smi := shutil.which("nvidia-smi")):
        return dict
    process = subprocess.Popen([smi, "-L"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)

    def wait_for_count():
        try:
            output = process.communicate(timeout=SECONDS_TO_COUNT_GPUS)[0]
        except subprocess.TimeoutExpired:
            process.kill()
            output = ""
        gpus = [line for line in output.splitlines() if line.startswith("GPU ")]
        return {"CUDA_VISIBLE_DEVICES": ",".join(map(str, range(len(gpus))))} if gpus else {}

    return wait_for_count


def find_free_ports():
    """Return a range of free ports for a controller, as "20000-20029".

    A controller without such a range asks the system for free ports, which may hand the same ports to other programs
    before the controller has opened them. The ports returned here lie outside the range from which the system chooses.
    """
    while True:
        first = 10_000 + secrets.randbelow(22_000)  # not `random`: a notebook may have seeded it
        with suppress(OSError), ExitStack() as sockets:
            for port in range(first, first + CONTROLLER_PORTS):
                sockets.enter_context(socket.socket()).bind(("127.0.0.1", port))
            return f"{first}-{first + CONTROLLER_PORTS - 1}"
