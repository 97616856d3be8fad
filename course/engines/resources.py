"""What engines share on this machine: cores and GPUs. Reads the machine and changes nothing."""

import os
import shutil
import subprocess

SECONDS_TO_COUNT_GPUS = 20  # a driver that has not answered by then has no usable GPUs


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
