"""The laws of lab 13, counted with its solution: bytes against formulas, equality with one process, and the bubble.

Everything is counted on simulated ranks, so a row is the same on every machine. Numbers that are compared to the last
bit are whole numbers in float64, whose sums are exact in any order.
"""

import numpy as np

from autograder.testing import figures
from course.comm import Simulated
from course.experiments import parallel
from course.spmd import spmd

LAB = "13-model-parallel"
FREE = Simulated(alpha=0.0, beta=1e18)  # messages cost nothing
SIMULATED = {"carrier": "simulated", "timeout": 120}


def rows():
    """One row per way of cutting and number of ranks: `bytes` are those of rank 0."""
    lab = figures.functions(LAB)
    for ranks in (2, 4, 8):
        yield from cut_by_tensor(lab, ranks)
    for ranks in (2, 4, 8):
        for m in (1, 4, 16, 64):
            yield from cut_by_layers(lab, ranks, m)
    for ranks in (2, 4, 8):
        yield cut_optimizer(lab, ranks)
    for rows_per_rank in (32, 127, 512):
        yield cut_by_both(lab, 4, rows_per_rank)
    for ranks in (2, 5, 16):
        yield cut_by_neighbours(lab, ranks)
    yield on_grid(lab)


def whole(rng, *shapes):
    """Whole numbers in float64, an array per shape."""
    return [rng.integers(-3, 4, size=shape).astype(float) for shape in shapes]


def make_row(way, ranks, sent, formula, equal, **more):
    return {"way": way, "ranks": ranks, "bytes": int(sent), "formula": round(formula), "equal": bool(equal)} | more


def cut_by_tensor(lab, ranks):
    """Two layers forward and backward; then the mistake that only replicas show."""
    X, A, a, B, b, G = whole(np.random.default_rng(ranks), (8, 16), (16, 64), (64,), (64, 16), (16,), (8, 16))
    parts = np.array_split(A, ranks, 1), np.array_split(a, ranks), np.array_split(B, ranks)
    ahead = spmd(lab["forward"], [X] * ranks, *parts, [b] * ranks, **SIMULATED)
    back = spmd(lab["backward"], [X] * ranks, *parts, [b] * ranks, [G] * ranks, **SIMULATED)
    Y, dA, da, dB, db, dX = parallel.mlp(X, A, a, B, b, G)
    joined = [np.concatenate([each[i] for each in back], axis=1 - min(i, 1)) for i in range(3)]
    equal = all(np.array_equal(each, Y) for each in ahead) and all(
        np.array_equal(one, other) for one, other in zip(joined, (dA, da, dB), strict=True)
    )
    equal &= all(np.array_equal(each[3], db) and np.array_equal(each[4], dX) for each in back)
    one_way = 2 * (ranks - 1) / ranks * 8 * 16 * 8
    for way, run in (("tensor forward", ahead), ("tensor backward", back)):
        yield make_row(way, ranks, run.trace.bytes_sent[0], one_way, equal)
    replicas = [each[4] for each in back]
    found = [
        spmd(lab["largest_difference"], xs, **SIMULATED)[0]
        for xs in (replicas, [x + (i > 0) for i, x in enumerate(replicas)])
    ]
    formula = (ranks - 1) * replicas[0].nbytes
    run = spmd(lab["largest_difference"], replicas, **SIMULATED)
    yield make_row("replicas compared", ranks, run.trace.bytes_sent[0], formula, found == [0.0, 1.0])


def cut_by_layers(lab, ranks, m):
    """Both schedules of a pipeline with m micro-batches."""
    rng = np.random.default_rng(m)
    Ws, (X, Y) = list(rng.normal(size=(ranks, 6, 6))), rng.normal(size=(2, 64, 6))
    right = parallel.gradients_of_layers(Ws, X, Y)
    for name in ("gpipe", "one_f_one_b"):
        options = {"X": X, "Y": Y, "m": m, "order": lab[name], "hand_over": lab["hand_over"]}
        run = spmd(parallel.run_stage, Ws, carrier=FREE, timeout=120, **options)
        yield make_row(
            name,
            ranks,
            run.trace.bytes_sent[0],
            64 * 6 * 8,
            all(np.allclose(each[0], g, rtol=1e-12, atol=1e-12) for each, g in zip(run, right, strict=True)),
            bubble=round(1 - 3 * m / run.trace.seconds, 10),
            predicted=round((ranks - 1) / (m + ranks - 1), 10),
            kept=[kept for _, kept in run],
        )


def cut_optimizer(lab, ranks):
    """Ten steps of Adam in parts, against data parallel Adam, which must send as many bytes."""
    rng, n = np.random.default_rng(ranks), 1000
    gs, w = list(rng.normal(size=(ranks, 10, n))), rng.normal(size=n)
    plain = spmd(lab["adam_steps"], gs, w=w, **SIMULATED)
    parts = spmd(lab["adam_steps"], gs, w=w, step=lab["zero_step"], **SIMULATED)
    equal = all(np.array_equal(each[0], plain[0][0]) for each in parts)
    equal &= sum(each[1] for each in parts) == plain[0][1]
    equal &= np.array_equal(parts.trace.bytes_sent, plain.trace.bytes_sent)
    return make_row("optimizer in parts", ranks, parts.trace.bytes_sent[0], 10 * 2 * (ranks - 1) / ranks * 8 * n, equal)


def cut_by_both(lab, ranks, rows_per_rank):
    """Krizhevsky's hybrid, and whether it sends less than data parallel training as predicted."""
    rng = np.random.default_rng(rows_per_rank)
    weights = dict(zip("CAB", whole(rng, (25, 16), (576, 512), (512, 10)), strict=True))
    xs, ys = (
        list(rng.integers(-1, 2, size=(ranks, rows_per_rank, 36, 25)).astype(float)),
        [np.eye(10)[rng.integers(10, size=rows_per_rank)] for _ in range(ranks)],
    )
    hybrid, data = (
        spmd(parallel.conv_and_dense, xs, ys, is_hybrid=is_hybrid, **weights, **SIMULATED)
        for is_hybrid in (True, False)
    )
    dC, dA, dB = data[0]
    equal = np.array_equal(hybrid[0][0], dC)
    equal &= np.array_equal(np.concatenate([each[1] for each in hybrid], axis=1), dA)
    equal &= np.array_equal(np.concatenate([each[2] for each in hybrid]), dB)
    is_less = bool(hybrid.trace.bytes_sent[0] < data.trace.bytes_sent[0])
    return make_row(
        f"hybrid, {rows_per_rank} rows per rank",
        ranks,
        hybrid.trace.bytes_sent[0],
        lab["hybrid_bytes"](ranks, 400, rows_per_rank, 576, 10),
        equal,
        sends_less=is_less,
        predicted_less=rows_per_rank < lab["crossover"](ranks, 300_032, 576, 10),
    )


def cut_by_neighbours(lab, ranks):
    """Three locally connected layers with a halo."""
    rng, nodes, width = np.random.default_rng(ranks), 640, 8
    Ws, x = list(rng.normal(size=(3, nodes, 2 * width + 1))), rng.normal(size=(4, nodes))
    options = {"Ws": Ws, "width": width, "halo": lab["halo"], "speed": 1e9, **SIMULATED}
    run, one = (spmd(parallel.local_network, lab["cut_columns"](x, n), **options) for n in (ranks, 1))
    equal = np.array_equal(np.concatenate(list(run), axis=1), one[0])
    return make_row("neighbours", ranks, run.trace.bytes_sent[0], 3 * 4 * width * 8, equal)


def on_grid(lab):
    """Two blocks on 2 x 2 x 2 ranks, against one process."""
    rng = np.random.default_rng(0)
    X, G, *weights = whole(rng, (10, 4), (10, 4), (2, 4, 6), (2, 6, 4))
    As, Bs = weights
    run = spmd(
        lab["train_on_grid"],
        ranks=8,
        **{"X": X, "G": G, "As": As, "Bs": Bs, "shape": (2, 2, 2)},
        **{name: lab[name] for name in ("grid", "forward", "backward")},
        **SIMULATED,
    )
    none = np.zeros(6), np.zeros(4)
    middle = parallel.mlp(X, As[0], none[0], Bs[0], none[1], G)[0]
    last = parallel.mlp(middle, As[1], none[0], Bs[1], none[1], G)
    first = parallel.mlp(X, As[0], none[0], Bs[0], none[1], last[5])
    equal = all(
        np.array_equal(np.concatenate([run[4 * delta + stage][0], run[4 * delta + 2 + stage][0]], axis=1), grads[1])
        and np.array_equal(np.concatenate([run[4 * delta + stage][1], run[4 * delta + 2 + stage][1]]), grads[3])
        for delta in (0, 1)
        for stage, grads in enumerate((first, last))
    )
    half, part = 5 * 4 * 8, 4 * 3 * 8  # bytes of a data group's activations, and of a rank's part of A, or of B
    formula = half + half + half + 2 * part  # forward, backward and to the next stage; both gradients over the data
    return make_row("grid 2 x 2 x 2", 8, run.trace.bytes_sent[0], formula, equal)


def summary(rows):
    """Met if all counts equal their formulas, all results those of one process, and all bubbles the predicted ones."""
    return {
        "bytes_differ": [row["way"] for row in rows if row["bytes"] != row["formula"]],
        "results_differ": [row["way"] for row in rows if not row["equal"]],
        "bubbles_differ": [row["way"] for row in rows if row.get("bubble") != row.get("predicted")],
        "predictions_fail": [row["way"] for row in rows if row.get("sends_less") != row.get("predicted_less")],
        "met": all(
            row["bytes"] == row["formula"]
            and row["equal"]
            and row.get("bubble") == row.get("predicted")
            and row.get("sends_less") == row.get("predicted_less")
            for row in rows
        ),
    }
