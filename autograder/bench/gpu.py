"""Everything that the labs say about GPUs, measured on this machine; a part that cannot run here says why.

    course bench gpu --json
    python -m autograder.bench.gpu --json       in the course's folder, where there are only Python, NumPy and PyTorch

Each part runs in a new process, so that a crash, a hang or the memory of one part cannot disturb the next one. Parts
that need TensorFlow, Horovod or the course's whole environment are skipped where these are missing. This module imports
the standard library alone; a part imports what it needs. BENCH_GPU_TRIAL=1 runs the parts on the processor, which tests
their code and measures nothing about GPUs. Touches no file of the course.
"""

import argparse
import ast
import functools
import importlib.util
import itertools
import json
import multiprocessing
import os
import platform
import re
import secrets
import subprocess
import sys
import tempfile
import time
import types
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
TRIAL = bool(os.environ.get("BENCH_GPU_TRIAL"))
SECONDS = int(os.environ.get("BENCH_GPU_SECONDS", 600))  # for one part
RESULT = "result: "  # begins the line with a part's result
ENVIRONMENT = ("ipyparallel", "nbclient", "jupytext", "nbgrader", "matplotlib", "mlxtend", "cloudpickle")
PARTS = {}


class Skipped(Exception):
    """The part cannot run here; the text says why."""


@dataclass
class Part:
    """One thing that labs say about GPUs. lab: its number. says: what the lab says. needs: what must be there."""

    lab: str
    says: str
    needs: tuple
    measure: object


def part(name, lab, says, *needs):
    """Register a function that measures one part; it returns a dict of figures."""

    def register(function):
        PARTS[name] = Part(lab, says, needs, function)
        return function

    return register


# ---------------------------------------------------------------------- the bench


def rows():
    """One row per part: either `figures`, or the reason for which it was `skipped`, or how it `failed`."""
    facts = ask("--probe")
    for name, each in PARTS.items():
        row = {"part": name, "lab": each.lab, "says": each.says, "device": describe_device(facts)}
        reason = find_obstacle(each.needs, facts)
        yield row | ({"skipped": reason} if reason else ask("--part", name))


def summary(rows):
    """How many parts were measured, skipped and failed, and on what."""
    facts = ask("--probe")
    return {
        "measured": sum("figures" in row for row in rows),
        "skipped": sum("skipped" in row for row in rows),
        "failed": sum("failed" in row for row in rows),
        "device": describe_device(facts),
        "versions": f"Python {platform.python_version()}, PyTorch {facts.get('torch')}, CUDA {facts.get('cuda')}",
        "met": not any("failed" in row for row in rows),
    }


def describe_device(facts):
    """Return the names of the GPUs, as they stand in a row."""
    if TRIAL:
        return "the processor (a trial)"
    names = facts.get("gpus", [])
    return f"{len(names)} x {names[0]}" if names else "no GPU"


def find_obstacle(needs, facts):
    """Return why a part with these needs cannot run here, "" if nothing is known."""
    if not facts.get("torch"):
        return f"PyTorch cannot be imported here: {facts.get('failed') or facts.get('why')}."
    gpus = len(facts["gpus"])
    if not TRIAL and gpus < 1:
        return "there is no GPU here that PyTorch can use (torch.cuda.is_available() is False)."
    if "two GPUs" in needs and not TRIAL and gpus < 2:
        return f"it needs two GPUs or more, one per rank; this machine has {gpus}."
    if "tensorflow" in needs and not facts["tensorflow"]:
        return "TensorFlow is not installed here."
    if "horovod" in needs and not facts["horovod"]:
        return "Horovod is not installed here: `make lab` builds it."
    if "environment" in needs and facts["missing"]:
        return f"it needs the course's whole environment; here {', '.join(facts['missing'])} are missing: `make lab`."
    return ""


def ask(*arguments):
    """Run this module in a new process and return the dict that it prints."""
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    command = [sys.executable, "-m", "autograder.bench.gpu", *arguments]
    try:
        ended = subprocess.run(
            command, cwd=ROOT, env=os.environ | {"PYTHONPATH": path}, capture_output=True, text=True, timeout=SECONDS
        )
    except subprocess.TimeoutExpired:
        return {"failed": f"it did not end within {SECONDS} s."}
    for line in reversed(ended.stdout.splitlines()):
        if line.startswith(RESULT):
            return json.loads(line.removeprefix(RESULT))
    return {"failed": f"exit status {ended.returncode}: {ended.stderr.strip()[-600:]}"}


def probe():
    """Return what is here, as a dict."""
    found = {name: importlib.util.find_spec(name) is not None for name in ("tensorflow", "horovod")}
    found["missing"] = [name for name in ENVIRONMENT if importlib.util.find_spec(name) is None]
    try:
        import numpy  # noqa: F401 (PyTorch works without it; the parts do not)
        import torch
    except Exception as error:
        return found | {"torch": None, "why": f"{type(error).__name__}: {error}", "gpus": []}
    gpus = (
        [torch.cuda.get_device_name(i) for i in range(torch.cuda.device_count())] if torch.cuda.is_available() else []
    )
    return found | {"torch": torch.__version__, "cuda": torch.version.cuda, "gpus": gpus}


def run_part(name):
    """Return the row of one part, measured in this process."""
    try:
        return {"figures": PARTS[name].measure()}
    except Skipped as reason:
        return {"skipped": str(reason)}
    except Exception as error:
        return {"failed": f"{type(error).__name__}: {error}"[:600]}


# ---------------------------------------------------------------------- tools of the parts


def device_of(rank=0):
    """Return the torch device of a rank: with fewer GPUs than ranks they share."""
    import torch

    return torch.device("cpu") if TRIAL else torch.device("cuda", rank % torch.cuda.device_count())


def wait_for_device():
    """Wait until the GPU has done all that was asked of it."""
    import torch

    if torch.cuda.is_available() and not TRIAL:
        torch.cuda.synchronize()


def milliseconds(function, repeat=20):
    """Return the median time of a call in milliseconds, after three calls that do not count."""
    times = []
    for turn in range(repeat + 3):
        wait_for_device()
        begin = time.perf_counter()
        function()
        wait_for_device()
        if turn >= 3:
            times.append(time.perf_counter() - begin)
    return round(1e3 * sorted(times)[len(times) // 2], 4)


def lab_text(number):
    """Return the path and the text of a lab."""
    path = next((ROOT / "solutions").glob(f"{number}-*/lab.py"))
    return path, path.read_text(encoding="utf-8")


def lab_functions(number):
    """Return the functions that a lab defines, with their solutions, name -> function; nothing else of it is run."""
    import numpy as np
    import torch

    path, text = lab_text(number)
    names = {"np": np, "numpy": np, "torch": torch}
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef):
            try:
                exec(compile(ast.Module([node], []), str(path), "exec"), names)
            except NameError:
                continue  # a default value that is not a function of the lab
    return names


def written_program(number, name):
    """Return the text of a program that a cell of a lab writes (`%%writefile NAME`)."""
    match = re.search(rf"^# %%writefile {re.escape(name)}\n(.*?)\n# %%", lab_text(number)[1], re.MULTILINE | re.DOTALL)
    return match[1].strip() + "\n"


def run_ranks(function, size, *arguments):
    """Call function(rank, size, folder, *arguments) in `size` new processes; returns the list of results."""
    context = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as folder:
        pipes, processes = [], []
        for rank in range(size):
            ours, theirs = context.Pipe()
            process = context.Process(target=be_rank, args=(theirs, function, rank, size, folder, arguments))
            process.start()
            theirs.close()
            pipes.append(ours)
            processes.append(process)
        try:
            results = [pipe.recv() for pipe in pipes]
        except EOFError:
            raise RuntimeError("a rank ended without a result") from None
        finally:
            for process in processes:
                process.join(20)
                process.kill()
    for kind, content in results:
        if kind == "error":
            raise RuntimeError(content)
    return [content for _, content in results]


def be_rank(pipe, function, rank, size, folder, arguments):
    """Be one rank of run_ranks."""
    try:
        pipe.send(("result", function(rank, size, folder, *arguments)))
    except Exception as error:
        pipe.send(("error", f"rank {rank}: {type(error).__name__}: {error}"))


def join_group(rank, size, folder, backend):
    """Join torch.distributed's process group through a file in the folder."""
    import torch
    import torch.distributed as dist

    if device_of(rank).type == "cuda":
        torch.cuda.set_device(device_of(rank))
    backend = "gloo" if TRIAL else backend
    dist.init_process_group(backend, init_method=f"file://{folder}/group", rank=rank, world_size=size)
    return dist


def course_communicator(rank, size, folder, kind):
    """Return a communicator of the course and its carrier, without engines: ranks find each other by files."""
    import pickle
    import socket

    if importlib.util.find_spec("cloudpickle") is None:
        import course

        # It carries functions to engines. These ranks have theirs already, and send none.
        course.functions = sys.modules["course.functions"] = types.SimpleNamespace(FunctionPickler=pickle.Pickler)
    from course.comm import carriers, worker
    from course.comm.communicator import Communicator

    class Silent:
        """Stands for the connection to a notebook, which says nothing and hears nothing."""

        def __init__(self):
            self.own, self.other = socket.socketpair()

        def fileno(self):
            return self.own.fileno()

        def send(self, *_):
            return None

    place, secret = Path(folder), (Path(folder) / "secret").read_bytes()
    reporter = worker.Reporter(Silent())
    carrier = carriers.ON_ENGINES[kind].load()(rank, size, reporter, secret, place, f"run-{rank}")
    share(place, rank, carrier.address)
    carrier.join([collect(place, each) for each in range(size)], 1, None)
    comm = reporter.comm = Communicator(carrier, ())
    comm._recorder.enter(carrier.now())
    comm.barrier()
    return comm, carrier


def share(place, rank, value):
    """Leave a value for the other ranks."""
    import pickle

    unfinished = place / f".{rank}"
    unfinished.write_bytes(pickle.dumps(value))
    unfinished.rename(place / f"address-{rank}")


def collect(place, rank):
    """Wait for the value of a rank."""
    import pickle

    while not (place / f"address-{rank}").exists():
        time.sleep(0.002)
    return pickle.loads((place / f"address-{rank}").read_bytes())


def times_of_ranks(rank, size, folder, kind, lab, function, sizes, on_gpu):
    """Return the median ms of a lab's function on arrays of these sizes (bytes), per size; a rank of run_ranks."""
    import torch

    if rank == 0:
        (Path(folder) / ".secret").write_bytes(secrets.token_bytes(32))
        (Path(folder) / ".secret").rename(Path(folder) / "secret")
    while not (Path(folder) / "secret").exists():
        time.sleep(0.002)
    device = device_of(rank) if on_gpu else torch.device("cpu")
    if device.type == "cuda":
        torch.cuda.set_device(device)
    torch.set_num_threads(1)
    comm, _ = course_communicator(rank, size, folder, kind)
    call, times = lab_functions(lab)[function], {}
    for nbytes in sizes:
        x = torch.full((nbytes // 4,), float(rank + 1), device=device)

        def one(x=x):
            comm.barrier()
            return call(comm, x.clone())

        times[nbytes] = milliseconds(one, 7)
        got = one()
        if function == "ring_allreduce" and abs(float(got.ravel()[0]) - size * (size + 1) / 2) > 1e-4:
            raise RuntimeError(f"the sum is {float(got.ravel()[0])}")
    comm.barrier()
    return times


def compare_carriers(kind, lab, function, sizes, size):
    """Return {bytes: {"gpu_ms", "host_ms"}} of a lab's function on ranks with tensors on GPUs and in host memory."""
    on_gpu, on_host = (run_ranks(times_of_ranks, size, kind, lab, function, sizes, where)[0] for where in (True, False))
    return {f"{nbytes} bytes": {"gpu_ms": on_gpu[nbytes], "host_ms": on_host[nbytes]} for nbytes in sizes}


# ---------------------------------------------------------------------- lab 03


@part("03-step", "03", "a network of 64 units gains little from a GPU, one of 1,024 much")
def step_of_a_network():
    import torch

    figures = {}
    for hidden in (64, 1024):
        for name, device in (("cpu", torch.device("cpu")), ("gpu", device_of())):
            X = torch.rand(1000, 784, device=device)
            y = torch.randint(10, (1000,), device=device)
            layers = torch.nn.Linear(784, hidden), torch.nn.ReLU(), torch.nn.Linear(hidden, 10)
            model = torch.nn.Sequential(*layers).to(device)

            def step(model=model, X=X, y=y):
                model.zero_grad()
                torch.nn.functional.cross_entropy(model(X), y).backward()

            figures[f"{hidden} units, {name} ms"] = milliseconds(step)
    return figures


@part("03-precision", "03", "float32 has about 7 digits, products of matrices on newer GPUs about 3 (TF32)")
def precision_of_products():
    import torch

    a, b = torch.rand(2, 1024, 1024, dtype=torch.float64)
    right, figures = a @ b, {}
    for setting in ("highest", "high"):
        torch.set_float32_matmul_precision(setting)
        got = (a.float().to(device_of()) @ b.float().to(device_of())).double().cpu()
        figures[f"relative error, precision {setting}"] = float(((got - right).abs() / right).max())
    return figures


# ---------------------------------------------------------------------- lab 04


@part("04-copies", "04", "a copy between GPU and host costs some ten microseconds, and then ten GB/s or more")
def copies():
    import torch

    figures = {}
    for nbytes in (8, 64 * 2**20):
        host, there = torch.ones(nbytes // 4), torch.ones(nbytes // 4, device=device_of())
        for name, copy in (("to the GPU", there.copy_), ("from the GPU", host.copy_)):
            ms = milliseconds(functools.partial(copy, host if name == "to the GPU" else there))
            figures[f"{nbytes} bytes {name}, us"] = round(1e3 * ms, 1)
            figures[f"{nbytes} bytes {name}, GB/s"] = round(nbytes / ms / 1e6, 3)
    return figures


@part("04-broadcast", "04", "the tree works on GPU tensors, which travel through the host's memory")
def broadcast_on_ranks():
    return compare_carriers("local", "04", "broadcast_tree", (4096, 16 * 2**20), 4)


# ---------------------------------------------------------------------- lab 05


@part("05-ring-one-gpu", "05", "several ranks share one GPU: the same ring, slower than without a GPU")
def ring_on_shared_gpu():
    return compare_carriers("torch", "05", "ring_allreduce", (4096, 16 * 2**20), 4)


@part("05-nccl-carrier", "05", "one rank per GPU: the carrier sends over NCCL, from GPU to GPU", "two GPUs")
def ring_over_nccl():
    import torch

    size = min(torch.cuda.device_count(), 4) if not TRIAL else 2
    sizes = (4096, 64 * 2**20)
    ours = run_ranks(times_of_ranks, size, "torch", "05", "ring_allreduce", sizes, True)[0]
    theirs = run_ranks(all_reduce_times, size, sizes)[0]
    return {f"{each} bytes": {"ring_ms": ours[each], "all_reduce_ms": theirs[each]} for each in sizes}


def all_reduce_times(rank, size, folder, sizes):
    """Return the median ms of torch.distributed's own all-reduce per size; a rank of run_ranks."""
    import torch

    dist = join_group(rank, size, folder, "nccl")
    times = {}
    for nbytes in sizes:
        x = torch.ones(nbytes // 4, device=device_of(rank))
        times[nbytes] = milliseconds(lambda x=x: dist.all_reduce(x))
    dist.destroy_process_group()
    return times


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


# ---------------------------------------------------------------------- lab 07


@part(
    "07-logical-gpus", "07", "four logical GPUs on one card give the outputs of one device, and no speed", "tensorflow"
)
def logical_gpus():
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    import numpy as np
    import tensorflow as tf

    kind = "CPU" if TRIAL else "GPU"
    cards = tf.config.list_physical_devices(kind)
    if not cards:
        raise Skipped("TensorFlow sees no GPU here: it is a build for processors, or lacks CUDA's libraries.")
    memory = None if TRIAL else 1024
    configuration = [tf.config.LogicalDeviceConfiguration(memory_limit=memory) for _ in range(4)]
    tf.config.set_logical_device_configuration(cards[0], configuration)
    names = [each.name for each in tf.config.list_logical_devices(kind)][:4]
    W = tf.constant(np.random.default_rng(0).normal(size=(512, 512)).astype(np.float32))
    X = np.random.default_rng(1).normal(size=(1024, 512)).astype(np.float32)

    def product(devices):
        parts = []
        for device, rows_of_device in zip(devices, np.array_split(X, len(devices)), strict=True):
            with tf.device(device):
                parts.append(tf.tanh(tf.constant(rows_of_device) @ W))
        return np.concatenate([each.numpy() for each in parts])

    strategy = tf.distribute.MirroredStrategy(names, cross_device_ops=tf.distribute.ReductionToOneDevice())
    return {
        "logical_devices": len(names),
        "largest_difference": float(np.abs(product(names) - product(names[:1])).max()),
        "one_device_ms": milliseconds(lambda: product(names[:1])),
        "four_devices_ms": milliseconds(lambda: product(names)),
        "replicas_of_MirroredStrategy": strategy.num_replicas_in_sync,
    }


# ---------------------------------------------------------------------- lab 08


@part("08-iterations", "08", "an iteration with 8,192 images takes hardly longer than one with 1,024")
def iterations():
    import torch

    layers = torch.nn
    figures = {}
    for batch in (8, 16) if TRIAL else (256, 1024, 8192):
        model = layers.Sequential(
            *(layers.Conv2d(1, 32, 3), layers.BatchNorm2d(32), layers.ReLU(), layers.MaxPool2d(2)),
            *(layers.Conv2d(32, 64, 3), layers.BatchNorm2d(64), layers.ReLU(), layers.MaxPool2d(2)),
            *(layers.Flatten(), layers.Linear(1600, 10)),
        ).to(device_of())
        X, y = torch.rand(batch, 1, 28, 28, device=device_of()), torch.randint(10, (batch,), device=device_of())

        def step(model=model, X=X, y=y):
            model.zero_grad()
            torch.nn.functional.cross_entropy(model(X), y).backward()

        figures[f"{batch} images, ms"] = milliseconds(step)
    return figures


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


for _number in ("03", "04", "05", "06", "07", "08"):
    part(f"{_number}-cells", _number, "the lab's own cells on GPUs, in the solved notebook", "environment")(
        lambda number=_number: run_cells(number)
    )


# ---------------------------------------------------------------------- the program


def main():
    """Print all rows, or, in a process of the bench, the result of one part."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true", help="print one JSON object per line, the summary last")
    parser.add_argument("--part", choices=list(PARTS), help=argparse.SUPPRESS)
    parser.add_argument("--probe", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.probe or arguments.part:
        print(RESULT + json.dumps(probe() if arguments.probe else run_part(arguments.part)), flush=True)
        return
    found = []
    for row in rows():
        found.append(row)
        show({"bench": "gpu", **row}, arguments.json)
    show({"bench": "gpu", "summary": True, **summary(found)}, arguments.json)


def show(row, as_json):
    """Print one row, for a program or for a person."""
    if as_json:
        print(json.dumps(row), flush=True)
        return
    result = row.get("figures") or row.get("skipped") or row.get("failed") or row
    word = next((word for word in ("figures", "skipped", "failed") if word in row), "summary")
    print(f"{row.get('part', '')}: {word}: {result}", flush=True)


if __name__ == "__main__":
    main()
