"""Whether the labs on averaging models and on parameter servers show what they should, on fresh seeds.

Each figure is measured on 20 seeds that chose neither a setting nor a bound, with the functions of the labs' solutions
and of `course/experiments`, and compared with its bounds. What does not depend on a seed is compared with its formula.
Nothing is timed but the rows.
"""

import os

import numpy as np

from autograder.testing import figures
from course.comm import Simulated, Slow
from course.experiments import averaging, networks, servers
from course.spmd import spmd

LAB_10, LAB_11 = "10-averaging", "11-parameter-servers"
SEEDS = list(range(300, 320))
SCHEDULES = SEEDS[::2]  # draws of the workers' speeds, each for two of the seeds
GAMMA, ACCURACY = 0.005, 88  # of SGD on the RAND data; of the speed-ups, in percent
RATE, WORKERS, UNTIL = 0.1, 8, 130
EXACT = 1e-9


def ways_to_average():
    """How far averaging the weights and averaging the gradients are apart, as a share of the way."""
    lab, start = figures.functions(LAB_10), np.zeros(networks.PARAMETERS)
    lab["X"], lab["y"] = networks.digits()[:2]
    settings = {
        "momentum": (lab["heavy_ball"], start, False, 0, EXACT),
        "momentum, velocity reset": (lab["heavy_ball"], start, True, 0.4, 1.2),
        "Adam": (lab["adam"], (start, start, 0), False, 0.2, 0.7),
    }
    for name, (step, state, is_reset, low, high) in settings.items():
        yield name, [lab["distance_of_ways"](step, state, is_reset, seed) for seed in SEEDS], low, high


def models_of_rand():
    """The excess error of an average of linear models on the RAND data: of 1 and 10 models in that of 10 and 100."""
    X, y, _, _ = averaging.rand()
    best = np.linalg.lstsq(X, y, rcond=None)[0]

    def excess(w):
        return np.mean((X @ w - y) ** 2) - np.mean((X @ best - y) ** 2)

    models = [averaging.train_parallel(seed, 100, GAMMA, [len(y)])[0] for seed in SEEDS]
    mean = {K: np.mean([excess(each[:K].mean(axis=0)) for each in models]) for K in (1, 10, 100)}
    yield "1 model / 10 models", mean[1] / mean[10], 5, 20
    yield "10 models / 100 models", mean[10] / mean[100], 5, 20
    rows = np.arange(len(y))
    for K, low, high in ((10, 5, 25), (100, 1, 4)):
        pairs = [
            figures.functions(LAB_10)["simu_parallel_sgd"](
                lambda w, row: 2 * (X[row] @ w - y[row]) * X[row], np.zeros(len(best)), rows, GAMMA, K, seed
            )
            for seed in SEEDS
        ]
        alone = np.mean([excess(w) for _, ws in pairs for w in ws])
        yield f"SimuParallelSGD, 1 of {K} / average", alone / np.mean([excess(v) for v, _ in pairs]), low, high


def averages_of_trained_models():
    """The held-out error of the average after training alone, less that of one worker, in points."""
    settings = {
        "convex, 4 workers": (4, {"sizes": (784, 10), "gamma": 0.01}, -4, -1),
        "network, same start, 2": (2, {"gamma": 0.05}, -2, 1),
        "network, own starts, 2": (2, {"gamma": 0.05, "own_starts": True}, 8, 40),
    }
    held_out = networks.digits()[2:]
    for name, (K, options, low, high) in settings.items():
        workers = averaging.Workers(K, SEEDS, **options)
        workers.train(10 * workers.pass_steps())
        errors = [networks.errors(w, *held_out, workers.sizes) for w in (workers.w.mean(axis=1), workers.w)]
        yield name, errors[0] - errors[1].mean(axis=1), low, high


def fixed_points():
    """Where local SGD rests on two bowls, from the student's rounds; the minimum is at 3."""
    bowls, lab = [(1.0, 0.0), (3.0, 4.0)], figures.functions(LAB_10)
    h, c = np.transpose(bowls)
    for tau, place in ((1, 3), (2, 2.914286), (5, 2.680532), (20, 2.128651), (100, 2.000027)):
        rounds = [[[bowl] * tau for bowl in bowls]] * 100
        reached = float(lab["local_sgd"](lambda w, bowl: bowl[0] * (w - bowl[1]), np.zeros(1), rounds, 0.1)[0])
        yield f"τ = {tau}", reached, place - 1e-5, place + 1e-5
        yield f"τ = {tau}, from the formula", abs(lab["fixed_point"](h, c, 0.1, tau) - reached), 0, 1e-6


def speed_ups():
    """SparkNet's speed-up to 88%, of K workers that average every τ steps, without the time of messages."""
    lab = figures.functions(LAB_10)

    def mean_rounds(K, tau):
        def combine(w, ws):
            return lab["average"](ws, [1] * K)

        numbers, reached = averaging.train_in_rounds(K, tau, SEEDS, 3000 // tau, combine, until=ACCURACY)
        return np.mean([lab["rounds_to"](ACCURACY, numbers, each) for each in reached])

    N, before = mean_rounds(1, 1), None
    yield "iterations of one machine", N, 350, 800
    for K, tau, low, high in (
        (4, 1, 3.5, 7),
        (4, 50, 1.5, 3),
        (4, 250, 0.8, 1.5),
        (8, 1, 5, 10),
        (8, 50, 2, 4),
        (8, 250, 0.8, 1.6),
    ):
        speed_up = lab["speed_up"](N, mean_rounds(K, tau), tau)
        yield f"K = {K}, τ = {tau}", speed_up, low, high if tau == 1 else min(high, before)  # falls along a row
        before = speed_up


def sorted_shards():
    """The held-out error (%) after 500 steps of four workers, whose parts are mixed or sorted by digit."""
    parts = figures.functions(LAB_10)["by_digit"](networks.digits()[1], 4)
    for name, tau, own, low, high in (
        ("mixed", 250, None, 8.5, 12.5),
        ("sorted", 1, parts, 8, 12),
        ("sorted", 50, parts, 14, 23),
        ("sorted", 250, parts, 27, 46),
    ):
        _, accuracies = averaging.train_in_rounds(4, tau, SEEDS, 500 // tau, lambda w, ws: ws.mean(axis=0), own)
        yield f"{name}, τ = {tau}", 100 - accuracies[:, -1], low, high


def train(N, kind, way=servers.train, **options):
    """A list of servers.Training, one per schedule, with two seeds each."""
    return [
        way(N, [schedule, schedule + 1], servers.draw_seconds(kind, N, schedule), **options) for schedule in SCHEDULES
    ]


def end_errors(runs):
    """The held-out errors (%) at the end, one per seed."""
    return np.concatenate([run.errors[:, -1] for run in runs])


def errors_against_workers():
    """The held-out error (%) after 1,024 updates with a fixed rate, rate / staleness and rate / N."""
    rules = {
        "fixed": lambda N: lambda staleness: RATE,
        "rate / staleness": lambda N: lambda staleness: figures.functions(LAB_11)["scaled_rate"](RATE, staleness),
        "rate / N": lambda N: lambda staleness: RATE / N,
    }
    for rule, N, low, high in (
        ("fixed", 1, 8.5, 11.5),
        ("fixed", 4, 10, 18),
        ("fixed", 8, 40, 75),
        ("fixed", 16, 60, 92),
        ("rate / staleness", 8, 9.5, 13),
        ("rate / staleness", 16, 11, 17),
        ("rate / N", 8, 9.5, 13),
        ("rate / N", 16, 11, 17),
    ):
        yield f"{rule}, N = {N}", end_errors(train(N, "equal", rate=rules[rule](N), updates=1024)), low, high


def collected_gradients():
    """Soft synchronization of 8 workers: (mean staleness) · S / (N - 1), and the error (%) after 1,024 gradients."""
    for S, low, high in ((1, 40, 75), (2, 9, 20), (4, 9, 13), (8, 9, 13)):
        runs = train(WORKERS, "equal", rate=lambda staleness: RATE, updates=1024 // S, collect=S)
        stale = [run.staleness.mean() * S / (WORKERS - 1) for run in runs]
        yield f"S = {S}, staleness", stale, 0.9, 1.1
        yield f"S = {S}, error", end_errors(runs), low, high


def rare_messages():
    """The error (%) after 1,024 gradients when a worker pushes the sum of 32 of them at a time, or each."""
    for k, rate, low, high in ((1, RATE / WORKERS, 9.5, 13), (32, RATE / WORKERS, 9.5, 14), (32, RATE, 30, 92)):
        runs = train(WORKERS, "equal", rate=lambda _, rate=rate: rate, updates=1024 // k, local=(k, RATE))
        yield f"k = {k}, server's rate {rate:g}", end_errors(runs), low, high


def limits():
    """The learning rate from which on gradients diverge that are s updates old, found by bisection."""
    lab = figures.functions(LAB_11)
    for s, limit in ((0, 2), (1, 1), (2, 0.618034), (3, 0.445042), (4, 0.347296), (8, 0.184537), (16, 0.095163)):
        low, high = 0.0, 2.5
        for _ in range(16):
            middle = (low + high) / 2
            end = np.abs(lab["delayed_path"](middle, s, 1500 * (s + 1))[-10 * (s + 1) :]).max()
            low, high = (middle, high) if end < 1 else (low, middle)
        yield f"s = {s}, measured", low, limit - 1e-3, limit + 1e-3
        yield f"s = {s}, from the formula", abs(lab["limit"](s) - limit), 0, 1e-5


def staleness_law():
    """Staleness of all gradients, those in flight at the end included, less (N - 1) · updates: exactly 0."""
    lab, updates, others = figures.functions(LAB_11), 300, 0
    for kind in ("equal", "one slow", "spikes", "random"):
        for N in (2, 5, 8):
            rest = []
            for seed in SEEDS:
                run = spmd(
                    train_ranks,
                    ranks=N + 1,
                    carrier=Simulated(trace=False),
                    seconds=servers.draw_seconds(kind, N, seed),
                    answer=lab["answer"],
                    updates=updates,
                )
                workers, staleness = zip(*run[0], strict=True)
                others += lab["count_staleness"](list(workers), N) != list(staleness)
                given = {worker: version + 1 for version, worker in enumerate(workers)}
                in_flight = sum(updates - given.get(worker, 0) for worker in range(1, N + 1))
                rest.append(sum(staleness) + in_flight - (N - 1) * updates)
            yield f"{kind}, N = {N}", rest, 0, 0
    yield "runs in which the lab's count_staleness differs", others, 0, 0


def train_ranks(comm, seconds, answer, updates):
    """Rank 0 serves and returns (worker, staleness) of each update; a gradient takes seconds(worker) to compute."""

    def gradient(w):
        comm.compute(seconds(comm.rank - 1))
        return w

    if comm.rank == 0:
        return servers.serve(comm, np.zeros(1), 0.0, updates, answer)[1]
    return servers.work(comm, np.zeros(1), gradient)


def answers():
    """How many times as many gradients a server makes that does not wait for its answers, beside a slow worker."""
    lab, paces = figures.functions(LAB_11), {}
    for name in ("answer", "wait_for_worker"):
        run = spmd(
            lab["serve_with"],
            ranks=WORKERS + 1,
            carrier=Simulated(trace=False),
            faults=[Slow(rank=WORKERS, seconds=0.02)],
            answer=lab[name],
            seconds=[0.01 * (1 + 0.013 * worker) for worker in range(WORKERS)],
            updates=600,
        )
        paces[name] = 600 / run.trace.seconds
    yield "without waiting / waiting", paces["answer"] / paces["wait_for_worker"], 1.3, 2


def slow_workers():
    """Gradients used in 130 units of time, in those of synchronous rounds, and held-out errors (%)."""
    bounds = {  # way -> (gradients, error) with one worker always slow, then with spikes
        "rounds": (None, (15, 22), None, (12, 19)),
        "bounded, s = 0": ((0.95, 1.1), (14, 21), (0.95, 1.1), (12, 18)),
        "bounded, s = 1": ((1, 1.15), (14, 21), (1.3, 1.8), (11, 15)),
        "bounded, s = 3": ((1.05, 1.3), (13, 20), (1.6, 2.3), (10.5, 14)),
        "bounded, s = 10": ((1.2, 1.6), (13, 18), (1.9, 2.8), (10, 13.5)),
        "asynchronous": ((4, 5), (9.5, 13), (2.1, 2.9), (10, 13.5)),
        "first 7 of 8": ((3.8, 4.8), (9.5, 13), (1.1, 1.6), (11.5, 16)),
    }
    for place, kind in ((0, "one slow"), (2, "spikes")):
        runs = {"rounds": train(WORKERS, kind, servers.train_in_rounds, rate=RATE, until=UNTIL)}
        for s in (0, 1, 3, 10):

            def released(clocks, waiting, s=s):
                return figures.functions(LAB_11)["released"](dict(enumerate(clocks)), waiting, s)

            options = {"rate": lambda staleness: RATE / WORKERS, "until": UNTIL, "released": released}
            runs[f"bounded, s = {s}"] = train(WORKERS, kind, **options)
        runs["asynchronous"] = train(WORKERS, kind, rate=lambda staleness: RATE / WORKERS, until=UNTIL)
        runs["first 7 of 8"] = train(WORKERS, kind, servers.train_in_rounds, rate=RATE, until=UNTIL, take=7)
        base = [run.used.sum() for run in runs["rounds"]]
        for name, each in runs.items():
            gradients, errors = bounds[name][place : place + 2]
            if gradients:
                yield f"{kind}, {name}, gradients", np.divide([run.used.sum() for run in each], base), *gradients
            yield f"{kind}, {name}, error", end_errors(each), *errors
            if name.startswith("bounded"):
                most = (2 * int(name.split()[-1]) + 1) * (WORKERS - 1)
                yield f"{kind}, {name}, largest staleness", max(run.staleness.max() for run in each), 0, most


def dropped_workers():
    """The share of the nines (%) that are misread when the slow worker alone has nines, and its gradients used."""
    X, y = networks.digits()[2:]
    options = {"until": 260, "by_digit": True}
    ways = {
        "all 8": (servers.train_in_rounds, {"rate": RATE}, 5, 30),
        "first 7 of 8": (servers.train_in_rounds, {"rate": RATE, "take": 7}, 99, 100),
        "asynchronous": (servers.train, {"rate": lambda staleness: RATE / WORKERS}, 20, 75),
    }
    for name, (way, own, low, high) in ways.items():
        runs = train(WORKERS, "one slow", way, **own, **options)
        weights = np.concatenate([run.weights for run in runs])
        read = networks.outputs(weights, X)[-1].argmax(axis=-1)
        yield f"{name}, nines misread", 100 * np.mean(read[:, y == 9] != 9, axis=1), low, high
        if name == "first 7 of 8":
            yield f"{name}, used of worker 8", [run.used[-1] for run in runs], 0, 0


def throughput():
    """Gradients per virtual second of one server, several servers and the ring."""
    lab, network, steps, P = figures.functions(LAB_11), Simulated(trace=False), 10, networks.PARAMETERS
    most = 1 / (2 * (network.alpha + 4 * P / network.beta))

    def pace(N, count):
        if count:
            options = {"servers": count, "exchange": lab["exchange"]}
            run = spmd(lab["train_sharded"], ranks=count + N, carrier=network, P=P, steps=steps, **options)
        else:
            run = spmd(lab["ring_steps"], ranks=N, carrier=network, P=P, steps=steps)
        return N * steps / run.trace.seconds

    one = pace(32, 1)
    yield "1 server, 32 workers / bound", one / most, 0.95, 1
    yield "1 server, 32 workers / 8 workers", one / pace(8, 1), 0.95, 1.1
    for count, low, high in ((2, 1.5, 2.1), (4, 2.5, 4.1), (0, 3, 4.5)):
        name = f"{count} servers" if count else "ring"
        yield f"{name}, 32 workers / 1 server", pace(32, count) / one, low, high


def neighbours():
    """How far one averaging with two neighbours on a ring shrinks the slowest disagreement, less the formula."""
    lab = figures.functions(LAB_11)
    for N in (3, 4, 8, 16, 64):
        x = np.cos(2 * np.pi * np.arange(N) / N)
        after = np.ravel(spmd(lab["gossip"], list(x[:, None]), carrier=Simulated(trace=False)))
        shrunk = np.linalg.norm(after) / np.linalg.norm(x)
        yield f"N = {N}", abs(shrunk - abs(1 / 3 + 2 / 3 * np.cos(2 * np.pi / N))), 0, 1e-12
        yield f"N = {N}, from the lab's formula", abs(shrunk - abs(lab["contraction"](N))), 0, 1e-12


FIGURES = (
    *(ways_to_average, models_of_rand, averages_of_trained_models, fixed_points, speed_ups, sorted_shards),
    *(staleness_law, answers, limits, errors_against_workers, slow_workers, collected_gradients, dropped_workers),
    *(throughput, rare_messages, neighbours),
)


def rows():
    """One row per figure and case, see `figures.measure`; the first six figures are those of the lab on averaging."""
    yield from figures.measure_all(FIGURES)


def summary(rows):
    """Whether every mean lies within its bounds, and which do not."""
    missed = [f"{row['figure']}, {row['case']}: {row['mean']:.4g}" for row in rows if not row["met"]]
    return {
        "figures": len(rows),
        "missed": missed,
        "met": not missed,
        "seconds": sum(row["seconds"] for row in rows),
        "cores": len(os.sched_getaffinity(0)),
    }
