"""The laws of lab 14, counted with its solution: bytes against formulas, and results against references.

Bytes are counted on simulated ranks and on four engines, and must agree. `engines_seconds` is the time of one run on
engines that are ready. `spark_seconds` is the time in Spark, which must find the same sums; None where Spark is
missing, and for L-BFGS, which needs ranks.
"""

import contextlib
import io
import time

import numpy as np
from sklearn.cluster import KMeans
from sklearn.linear_model import LogisticRegression

from autograder.testing import figures
from course import cluster
from course.experiments import mapreduce, parallel, spark
from course.spmd import spmd

LAB = "14-mapreduce"
RANKS = 4
CARRIERS = ("local", "simulated")  # counted on both


def rows():
    """One row per algorithm: `bytes` are those of all ranks in one MapReduce, or in one direction of L-BFGS."""
    lab = figures.functions(LAB)
    with contextlib.redirect_stdout(io.StringIO()):
        cluster.start(RANKS)
    if not spark.list_missing():
        spark.start().parallelize(range(RANKS), RANKS).map(abs).count()  # the first job starts Python's processes
    yield from count_words(lab)
    yield solve_least_squares(lab)
    yield fit_logistic(lab)
    yield from move_centres(lab)
    yield rank_pages(lab)
    yield find_direction(lab)


def make_row(task, run, formula, equal, has_spark=True):
    """run: function, carrier -> Run, whose bytes must be the formula's on both carriers.

    has_spark: whether run("spark") returns the records in Spark.
    """
    begin = time.perf_counter()
    on_engines = run(CARRIERS[0])
    seconds = time.perf_counter() - begin
    sent, simulated = (int(each.trace.bytes_sent.sum()) for each in (on_engines, run(CARRIERS[1])))
    spark_seconds = None
    if has_spark and not spark.list_missing():
        begin = time.perf_counter()
        records = run("spark")
        spark_seconds = time.perf_counter() - begin
        equal = equal and all(map(np.allclose, records, mapreduce.collect(on_engines)))
    return {
        "task": task,
        "equal": bool(equal) and sent == simulated,
        "bytes": simulated,
        "formula": int(formula),
        "engines_seconds": seconds,
        "spark_seconds": spark_seconds,
    }


def prepare(lab, shards, mapper, combine=True, model=None):
    """A function, carrier -> the Run of a MapReduce that adds; "spark" -> the records of the same in Spark."""

    def run(carrier):
        combiner = lab["add"] if combine else None
        options = {"mapper": mapper, "reducer": lab["add"], "combiner": combiner, "model": model}
        if carrier == "spark":
            return spark.map_reduce(spark.start().parallelize(shards, RANKS), **options)
        return spmd(lab["map_reduce"], shards, carrier=carrier, timeout=120, **options)

    return run


def count_leaving(lab, keys):
    """How many records leave their rank; keys: those of the records of each rank."""
    return sum(int((lab["home"](own, len(keys)) != rank).sum()) for rank, own in enumerate(keys))


def count_words(lab):
    """Words of NumPy's documentation, without and with a combiner."""
    keys = np.array([lab["word_key"](word) for word in mapreduce.words()])
    shards = np.array_split(keys, RANKS)
    expected = np.unique(keys, return_counts=True)
    for task, combine in (("word count", False), ("word count, combined", True)):
        run = prepare(lab, shards, lab["count"], combine)
        found = mapreduce.collect(run("simulated"))
        equal = np.array_equal(found[0], expected[0]) and np.array_equal(found[1][:, 0], expected[1])
        travelling = [np.unique(shard) for shard in shards] if combine else shards
        yield make_row(task, run, 16 * count_leaving(lab, travelling), equal)


def solve_least_squares(lab):
    """Least squares on the RAND experiment, against NumPy to 1e-9."""
    X, y = mapreduce.visits()
    shards = list(zip(np.array_split(X, RANKS), np.array_split(y, RANKS), strict=True))
    run = prepare(lab, shards, lab["least_squares"])
    equal = np.allclose(mapreduce.solve(*mapreduce.collect(run("simulated"))), np.linalg.lstsq(X, y)[0], atol=1e-9)
    d = X.shape[1]
    return make_row("least squares", run, (8 + 8 * (d + 1)) * count_leaving(lab, [np.arange(d)] * RANKS), equal)


def fit_logistic(lab):
    """Six Newton steps of logistic regression, against scikit-learn to 1e-5."""
    X, y = mapreduce.visits()
    shards = list(zip(np.array_split(X, RANKS), np.array_split(y, RANKS), strict=True))
    w = np.zeros(X.shape[1])
    for _ in range(6):
        run = prepare(lab, shards, lab["newton"], model=w)
        w = w - mapreduce.solve(*mapreduce.collect(run("simulated")))
    reference = LogisticRegression(C=np.inf, fit_intercept=False, tol=1e-10, max_iter=1000).fit(X, y).coef_[0]
    formula = (8 + 8 * (len(w) + 1)) * count_leaving(lab, [np.arange(len(w))] * RANKS)
    return make_row("logistic regression, Newton", run, formula, np.allclose(w, reference, atol=1e-5))


def move_centres(lab):
    """One step of k-means on digits, against scikit-learn to 1e-9, without and with a combiner."""
    points = mapreduce.digits()[0][:, :-1]
    shards, centres = np.array_split(points, RANKS), points[:10]
    reference = KMeans(10, init=centres, n_init=1, max_iter=1, tol=0, algorithm="lloyd").fit(points)
    keys = [lab["nearest"](shard, centres)[0] for shard in shards]
    for task, combine in (("k-means", False), ("k-means, combined", True)):
        run = prepare(lab, shards, lab["nearest"], combine, centres)
        moved = lab["move_centres"](*mapreduce.collect(run("simulated")), centres)
        travelling = [np.unique(own) for own in keys] if combine else keys
        width = points.shape[1] + 1
        equal = np.allclose(moved, reference.cluster_centers_, atol=1e-9)
        yield make_row(task, run, (8 + 8 * width) * count_leaving(lab, travelling), equal)


def rank_pages(lab):
    """Thirty steps of PageRank on 2,000 pages, whose error must be below 2 · 0.85^30."""
    n, links = 2000, mapreduce.web(2000, seed=0)
    shards = [(pages, links[np.isin(links[:, 0], pages)]) for pages in np.array_split(np.arange(n), RANKS)]
    degrees = np.bincount(links[:, 0], minlength=n)
    flows = np.zeros((n, n))
    flows[links[:, 1], links[:, 0]] = 1 / degrees[links[:, 0]]
    flows[:, degrees == 0] = 1 / n
    exact = np.linalg.solve(np.eye(n) - 0.85 * flows, np.full(n, 0.15 / n))
    p = np.full(n, 1 / n)
    for _ in range(30):
        run = prepare(lab, shards, lab["follow"], model=p)
        p = lab["new_ranks"](*mapreduce.collect(run("simulated")), n)
    equal = np.abs(p - exact).sum() < 2 * 0.85**30 and abs(p.sum() - 1) < 1e-9
    travelling = [np.unique(lab["follow"](shard, p)[0]) for shard in shards]
    return make_row("PageRank", run, 16 * count_leaving(lab, travelling), equal)


def find_direction(lab):
    """A direction of L-BFGS from five pairs: 3 inner products per pair and 1 more, 8 bytes to each other rank."""
    rng, n, m = np.random.default_rng(0), 1000, 5
    g, S = rng.normal(size=n), rng.normal(size=(m, n))
    Y = S * (1 + rng.random(n))
    parts = [[each[own] for own in parallel.cut(n, RANKS)] for each in (g, *S, *Y)]
    lists = [
        [[part[rank] for part in chosen] for rank in range(RANKS)] for chosen in (parts[1 : m + 1], parts[m + 1 :])
    ]

    def run(carrier):
        return spmd(lab["direction"], parts[0], *lists, carrier=carrier)

    one = spmd(lab["direction"], [g], [list(S)], [list(Y)], carrier="simulated")[0]
    equal = np.allclose(np.concatenate(list(run("simulated"))), one, rtol=1e-9, atol=1e-12)
    return make_row("L-BFGS direction", run, RANKS * (RANKS - 1) * 8 * (3 * m + 1), equal, has_spark=False)


def summary(rows):
    """Met if all bytes are those of their formulas, and all results those of the references and of both carriers."""
    return {
        "bytes_differ": [row["task"] for row in rows if row["bytes"] != row["formula"]],
        "results_differ": [row["task"] for row in rows if not row["equal"]],
        "met": all(row["bytes"] == row["formula"] and row["equal"] for row in rows),
    }
