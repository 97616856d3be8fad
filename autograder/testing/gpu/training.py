"""The parts on data parallel training (lab 06), and the labs' own cells, which need the course's whole environment."""

import itertools
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from autograder.testing.gpu.ranks import join_group, run_ranks
from autograder.testing.gpu.tools import ROOT, SECONDS, TRIAL, device_of, milliseconds, part, written_program

# ---------------------------------------------------------------------- lab 06


def ddp_rank(rank, size, folder, backend, steps):
    """Train by DDP and by averaging after backward; returns parameters and times; a rank of run_ranks."""
    import torch

    dist = join_group(rank, size, folder, backend)
    torch.set_num_threads(1)
    model, figures = wide_network().to(device_of(rank)), {}
    share_of_rows = torch.Generator().manual_seed(0)
    X, y = (torch.randn(64, 256, generator=share_of_rows)[rank::size].to(device_of(rank)) for _ in range(2))
    ddp = torch.nn.parallel.DistributedDataParallel(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)

    def by_ddp():
        optimizer.zero_grad()
        ((ddp(X) - y) ** 2).mean().backward()
        optimizer.step()

    for _ in range(steps):
        by_ddp()
    figures["parameters"] = torch.nn.utils.parameters_to_vector(model.parameters()).detach().cpu()[::1000].tolist()
    figures["ddp_ms"] = milliseconds(by_ddp)

    def by_hand():
        optimizer.zero_grad()
        ((model(X) - y) ** 2).mean().backward()
        for param in model.parameters():
            dist.all_reduce(param.grad)
            param.grad /= size
        optimizer.step()

    figures["by_hand_ms"] = milliseconds(by_hand)
    dist.destroy_process_group()
    return figures


def wide_network():
    """Return a network whose gradient has 4 MB in six layers, with the same weights every time."""
    import torch

    torch.manual_seed(0)
    sizes = [256, 512, 512, 512, 256]
    layers = [torch.nn.Linear(a, b) for a, b in itertools.pairwise(sizes)]
    return torch.nn.Sequential(*[each for layer in layers for each in (layer, torch.nn.Tanh())][:-1])


def compare_ddp(size, backend):
    """Return the times of DDP and of averaging by hand on `size` ranks, and how far they are from one process."""
    alone = run_ranks(ddp_rank, 1, backend, 5)[0]
    together = run_ranks(ddp_rank, size, backend, 5)
    differences = [
        abs(a - b) for each in together for a, b in zip(each["parameters"], alone["parameters"], strict=True)
    ]
    return {
        "ranks": size,
        "ddp_ms": together[0]["ddp_ms"],
        "by_hand_ms": together[0]["by_hand_ms"],
        "one_process_ms": alone["ddp_ms"],
        "largest_difference": max(differences),
    }


@part("06-ddp-one-gpu", "06", "several ranks on one GPU keep to Gloo; DDP gives the model of one process")
def ddp_on_shared_gpu():
    return compare_ddp(2, "gloo")


@part("06-ddp-nccl", "06", "with one GPU per rank NCCL sends DDP's buckets while back-propagation goes on", "two GPUs")
def ddp_over_nccl():
    import torch

    return compare_ddp(2 if TRIAL else torch.cuda.device_count(), "nccl")


@part("06-launcher", "06", "train.py under torchrun pins each process to the GPU of its local rank")
def launched_program():
    import torch

    size = 2 if TRIAL else max(2, torch.cuda.device_count())
    return {"lines": run_program("06", "train.py", ["-m", "torch.distributed.run", "--nproc-per-node", str(size)])}


def run_program(lab, name, before):
    """Run a program that a lab writes with this Python and these arguments before its name; returns its lines."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / name).write_text(written_program(lab, name))
        path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
        environment = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": path}
        command = [sys.executable, *before, *name.split()]
        ended = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=SECONDS)
    if ended.returncode:
        raise RuntimeError(f"exit status {ended.returncode}: {ended.stderr.strip()[-400:]}")
    return sorted(ended.stdout.strip().splitlines())


HOROVOD_PROGRAM = """
import json, time, horovod.torch as hvd, torch
hvd.init()
gpus = torch.cuda.device_count()
device = torch.device("cuda", hvd.local_rank() % gpus) if gpus else torch.device("cpu")
if gpus:
    torch.cuda.set_device(device)
x = torch.ones(4 * 2**20, device=device)
times = []
for turn in range(12):
    begin = time.perf_counter()
    total = hvd.allreduce(x, op=hvd.Sum, name="x")
    total[0].item()
    times.append(time.perf_counter() - begin)
if hvd.rank() == 0:
    print("figures: " + json.dumps({"ranks": hvd.size(), "device": str(device), "nccl_built": bool(hvd.nccl_built()),
        "sum": total[0].item(), "allreduce_16_MB_ms": round(1e3 * sorted(times[2:])[5], 3)}))
"""


@part(
    "06-horovod", "06", "Horovod averages tensors wherever they are; built with NCCL it does so on the GPUs", "horovod"
)
def horovod_on_gpus():
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "program.py"
        program.write_text(HOROVOD_PROGRAM)
        command = [sys.executable, "-m", "horovod.runner.launch", "-np", "2", sys.executable, str(program)]
        ended = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=SECONDS)
    match = re.search(r"figures: (\{.*\})", ended.stdout)
    if match is None:
        raise RuntimeError(f"exit status {ended.returncode}: {ended.stderr.strip()[-400:]}")
    return json.loads(match[1])


# ---------------------------------------------------------------------- the labs' own cells


def run_cells(number):
    """Run a solved lab and return what the cells below its headings about GPUs print."""
    import nbclient

    from autograder.labs import build, source

    name = next(each for each in source.lab_names() if each.startswith(number))
    notebook, is_about_gpus, printed = build.solved(name), False, []
    notebook.cells = [cell for cell in notebook.cells if cell.id != "hand-in"]
    with tempfile.TemporaryDirectory() as folder:
        resources = {"metadata": {"path": folder}}
        nbclient.NotebookClient(notebook, timeout=SECONDS, allow_errors=True, resources=resources).execute()
    for cell in notebook.cells:
        if cell.cell_type == "markdown" and re.search(r"^#+ ", cell.source, re.MULTILINE):
            headings = [line for line in cell.source.splitlines() if line.startswith("#")]
            is_about_gpus = "GPU" in headings[-1]
        elif cell.cell_type == "code" and is_about_gpus:
            printed += [output.text for output in cell.outputs if output.output_type == "stream"]
            printed += [output.evalue for output in cell.outputs if output.output_type == "error"]
    return {"prints": "".join(printed).strip().splitlines()}


for _number in (*(f"{number:02}" for number in range(1, 11)), "13", "14", "15", "16", "17"):
    part(f"{_number}-cells", _number, "the lab's own cells on GPUs, in the solved notebook", "environment")(
        lambda number=_number: run_cells(number)
    )
