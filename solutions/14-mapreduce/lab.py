# %% [markdown]
# # Lab 14: MapReduce, and learning that is not SGD
#
# A mini-batch and an all-reduce are one way to learn from data on many machines. Ilnur Shugaepov's lecture begins with
# an older and more general one, **MapReduce**: you write one function for a part of the data and one that puts results
# together, and a system does everything between them. Many algorithms fit into this form without any approximation.
# In this lab you write the system and then five algorithms for it. At the end you answer the lecture's last
# question: "What about non-SGD ML algorithms?"
#
# **After this lab you can**
#
# - write `map_reduce` with its shuffle, and predict how many bytes a combiner saves;
# - tell which functions may be combined, by a counterexample;
# - write an algorithm as sums over the data, and tell when this is possible;
# - handle the cases in which k-means and PageRank go wrong: empty clusters, and pages without links;
# - write L-BFGS for vectors of which each rank has a part, and say when it beats SGD.
#
# | step | what | minutes |
# |---|---|---|
# | quiz | five questions from memory | 3 |
# | 1 | reduce by key | 6 |
# | 2 | the shuffle | 17 |
# | 3 | which functions may be combined | 8 |
# | 4 | regression as sums | 12 |
# | 5 | k-means | 10 |
# | 6 | PageRank | 10 |
# | 7 | L-BFGS against SGD | 14 |
# | 8 | two questions | 10 |
#
# These are the core of the lab. Further steps give extra credit. Do them in any order, or not at all:
#
# | further step | what | minutes |
# |---|---|---|
# | A | a mapper that dies | 9 |
# | B | slow workers, portions and backup tasks | 12 |
# | C | online learning and its regret | 10 |
# | D | Spark, for real | 25 |
# | E | more data than memory: Dask, and Spark again | 8 |
# | F | the ecosystem today, and real GPUs | 5 |
#
# You know all-to-all from lab 4, messages of unknown size from lab 12, and sums over shards since lab 1.
#
# | symbol | meaning | in the code |
# |---|---|---|
# | $N$ | the number of ranks | `comm.size` |
# | $n$ | the number of examples, or of pages | `n` |
# | $X, y$ | examples, one row each, and what is to be predicted | `X`, `y` |
# | $w$ | the weights of a model | `w` |
# | $g$ | a gradient | `g` |
# | $s_i, y_i$ | a step of L-BFGS, and how the gradient changed in it | `S[i]`, `Y[i]` |
#
# **In every task**, unless its text says otherwise: your function leaves its arguments unchanged and returns numbers in
# float64.

# %%
# %load_ext course
import itertools
import zlib

import numpy as np

from course import cluster, mapreduce, plots
from course.comm import Die, Simulated
from course.questions import outcome
from course.spmd import spmd

# %% quiz opening points=1
# 1. In an all-to-all on 4 ranks, each rank has one row of 100 bytes for each rank. How many bytes does each rank send?
#    = 300
#    because it sends one row to each of the 3 other ranks and keeps its own (lab 4).
# 2. The gradient of a sum of squared errors over all rows is needed, and the rows lie on 3 ranks. What does each rank send?
#    a) its rows
#    b) the gradient of its own sum
#    c) the gradient of its own mean, whatever the number of its rows
#    d) its weights
#    = b
#    because the gradient of a sum is the sum of gradients (lab 1).
# 3. How can a receiver find out the size of a message before it receives it?
#    a) by a barrier
#    b) by receiving twice
#    c) by a probe
#    d) it cannot
#    = c
#    because a probe fills a Status with the number of elements and leaves the message (lab 12).
# 4. Two ranks have trained on their own rows and average their weights once, at the end. When is this the minimum for all rows?
#    a) always
#    b) always if the loss is convex
#    c) never if the ranks have different rows
#    d) if the loss is quadratic with the same curvature on both ranks
#    = d
#    because only then is the mean of the two minima the minimum of the sum (lab 10).
# 5. Bottou and Bousquet: examples are plenty, and the computing time is the limit. What do they call this?
#    a) small-scale learning
#    b) large-scale learning
#    c) online learning
#    d) overfitting
#    = b
#    because learning is large-scale when time is the limit, small-scale when examples are (lab 2).

# %% measure
# This starts four engines in the background. They will be ready when you need them.
cluster.prepare(4)

# %% [markdown]
# ## Step 1. Reduce by key
#
# A MapReduce program consists of two functions (Dean and Ghemawat, *MapReduce: Simplified Data Processing on Large
# Clusters*, OSDI 2004). The **mapper** turns a shard of the data into **records**, each with a key and a value. The
# **reducer** gets all values with the same key and returns one value. Counting words, the mapper returns the record
# (word, 1) for every word, and the reducer adds.
#
# In this lab a key is an int64 and a value is a row of `width` numbers in float64. Many records are two arrays: `keys`,
# shape (n,), and `values`, shape (n, width). On its way a record takes exactly $8 + 8 \cdot \text{width}$ bytes.
#
# By hand, with the reducer `add` of the next cell: the keys 7, 2, 7, 5 with the values 1, 10, 3, 4 become the keys
# 2, 5, 7 with the values 10, 4, 1 + 3 = 4.


# %%
def add(values):
    """The sum of the rows of values: a reducer, and a combiner."""
    return values.sum(axis=0)


def first_and_last(values):
    """The first number of the first row, and the last number of the last row; values: shape (n, 2)."""
    return np.array([values[0, 0], values[-1, -1]])


# %% [markdown]
# Write `reduce_by_key`. `distinct, which = np.unique(keys, return_inverse=True)` gives the distinct keys in ascending
# order, and for each record the index of its key among them.


# %% task reduce-by-key
def reduce_by_key(keys, values, reducer):
    """(distinct keys, rows): each key once, in ascending order, int64; rows[i] is reducer(the values of key i).

    keys: int64, shape (n,), in any order. values: float64, shape (n, width). reducer(values): gets the values of one
    key, shape (how many, width), in the order in which they come, and returns a row, shape (width,).
    No records, n = 0, give no keys and no rows: shapes (0,) and (0, width).
    """
    # about 5 lines
    ### BEGIN SOLUTION
    distinct, which = np.unique(keys, return_inverse=True)
    rows = np.zeros((len(distinct), values.shape[1]))
    for i in range(len(distinct)):
        rows[i] = reducer(values[which == i])
    return distinct, rows
    ### END SOLUTION


# %% check reduce-by-key points=2
import numpy as np

from course.checks import call

keys_now, values_now = np.array([7, 2, 7, 5]), np.array([[1.0], [10.0], [3.0], [4.0]])
got = call(reduce_by_key, keys_now, values_now, add)
assert got is not None, "reduce_by_key returned None. End it with a `return` statement."
assert len(got) == 2, f"reduce_by_key returns two arrays, keys and rows. Yours returns {len(got)} things."
distinct_now, rows_now = np.asarray(got[0]), np.asarray(got[1], dtype=float)
assert distinct_now.tolist() != [7, 2, 5], "the keys come in the order of the records. They are in ascending order."
assert distinct_now.tolist() != [2, 5, 7, 7], "the key 7 comes twice: each key appears once."
assert distinct_now.tolist() == [2, 5, 7], f"the keys are 2, 5, 7, each once; yours are {distinct_now.tolist()}."
assert distinct_now.dtype == np.int64, f"keys are int64, but yours are {distinct_now.dtype}."
assert rows_now.shape != (3,), "rows has the shape (3,). A value is a row, so with width 1 it is (3, 1)."
assert rows_now.shape == (3, 1), f"three keys of width 1 have rows of the shape (3, 1); yours is {rows_now.shape}."
assert rows_now.ravel().tolist() != [10, 4, 2], "the key 7 has the mean of its values. Call the reducer that you get."
assert rows_now.ravel().tolist() != [10, 4, 1], "the key 7 has only its first value."
assert rows_now.ravel().tolist() != [10, 4, 3], "the key 7 has only its last value."
assert rows_now.ravel().tolist() == [10, 4, 4], (
    f"by hand the sums for the keys 2, 5, 7 are 10, 4, 4, but yours are {rows_now.ravel().tolist()}."
)
values_now = np.array([[1.0, 5.0], [2.0, 6.0], [3.0, 7.0], [4.0, 8.0]])
got = np.asarray(call(reduce_by_key, keys_now, values_now, first_and_last)[1], dtype=float)
assert got.shape == (3, 2), f"values of width 2 give rows of width 2; your rows have the shape {got.shape}."
assert got.tolist() != [[2, 6], [4, 8], [4, 12]], "you add, whatever the reducer. Call reducer(values of one key)."
assert got.tolist() != [[2, 6], [4, 8], [3, 5]], "the values of the key 7 come in the other order. Keep their order."
assert got.tolist() == [[2, 6], [4, 8], [1, 7]], (
    f"with first_and_last the rows are [2, 6], [4, 8], [1, 7], but yours are {got.tolist()}."
)
### BEGIN HIDDEN TESTS
from course.checks import is_close

got = call(reduce_by_key, np.zeros(0, np.int64), np.zeros((0, 3)), add)
assert np.shape(got[0]) == (0,) and np.shape(got[1]) == (0, 3), (
    f"no records of width 3: the shapes are (0,) and (0, 3), but yours are {np.shape(got[0])} and {np.shape(got[1])}."
)
assert np.asarray(got[0]).dtype == np.int64, "without records the keys are int64, too."
rng = np.random.default_rng(1)
for n_now, width_now in ((1, 1), (40, 2), (200, 3)):
    keys_now = rng.integers(-9, 10, size=n_now) * 10**12
    values_now = rng.normal(size=(n_now, width_now))
    got = call(reduce_by_key, keys_now, values_now, add)
    right = np.unique(keys_now)
    sums = np.array([values_now[keys_now == key].sum(axis=0) for key in right])
    assert np.array_equal(np.asarray(got[0]), right), (
        f"{n_now} records with large and negative keys: the keys are wrong."
    )
    assert is_close(np.asarray(got[1]), sums), f"{n_now} records of width {width_now}: the sums are wrong."
keys_now, values_now = rng.integers(0, 3, size=300), rng.normal(size=(300, 2))
ends = [[values_now[keys_now == key][0, 0], values_now[keys_now == key][-1, 1]] for key in range(3)]
got = call(reduce_by_key, keys_now, values_now, first_and_last)[1]
assert is_close(np.asarray(got), ends), (
    "300 records: the values of a key come in another order. Sorting must be stable."
)
### END HIDDEN TESTS

# %% [markdown]
# ## Step 2. The shuffle
#
# On $N$ ranks, each rank has a shard and runs the mapper on it. Records with the same key then lie on many ranks. In
# the **shuffle** each record travels to the rank that its key belongs to, its **home**. There the reducer runs. The
# home must be the same on every rank, so it must depend on the key alone.
#
# - Python's `hash` of a string is different in every process, on purpose. Two ranks would send the same word to
#   different homes, and nobody would notice: there are results, but wrong ones.
# - `key % N` is the same everywhere. But if all keys are multiples of $N$, one rank gets everything.
#
# A **stable hash** has neither flaw. `zlib.crc32(b)` turns bytes into a whole number from 0 to $2^{32} - 1$, in the same
# way in every process. Use it twice: for the key of a word, and for the home of a key. (Two words can have the same
# crc32. For a few thousand words this is unlikely; real systems send the word itself.)


# %% task home
def word_key(word):
    """The key of a word: the crc32 of its bytes, `word.encode()`; a whole number."""
    # about 1 line
    ### BEGIN SOLUTION
    return zlib.crc32(word.encode())
    ### END SOLUTION


def home(keys, N):
    """The rank, 0 to N - 1, of each key: the crc32 of the key's 8 bytes, `key.tobytes()`, modulo N.

    keys: int64, shape (n,). Returns int64, shape (n,).
    """
    # about 1 line
    ### BEGIN SOLUTION
    return np.array([zlib.crc32(key.tobytes()) % N for key in keys], dtype=np.int64)
    ### END SOLUTION


# %% check home points=2
import zlib

import numpy as np

from course.checks import call

got = word_key("a")
assert got is not None, "word_key returned None. End it with a `return` statement."
assert got != hash("a"), "Python's hash of a string differs between processes. Use zlib.crc32."
assert 0 <= int(got) < 2**32, f"a crc32 lies between 0 and 2**32, but yours is {got}. Does it come from Python's hash?"
assert int(got) != 97, "this is the character's code. Use zlib.crc32(word.encode())."
assert int(got) == 3904355907, f"the crc32 of b'a' is 3904355907, but yours is {got}."
assert int(word_key("añ")) == 3940908946, "the crc32 of 'añ' is that of all its bytes, 'añ'.encode(), in UTF-8."
keys_now = np.arange(0, 400, 4)
got = call(home, keys_now, 4)
assert got is not None, "home returned None. End it with a `return` statement."
got = np.asarray(got)
assert got.shape == (100,), f"100 keys have 100 homes; yours have the shape {got.shape}."
assert got.any(), "the keys are multiples of 4, and all of them are on rank 0. Take the crc32 modulo N, not the key."
assert (got >= 0).all() and (got < 4).all(), "a home is a rank, 0 to N - 1. Take the crc32 modulo N."
text = np.array([zlib.crc32(str(key).encode()) % 4 for key in keys_now.tolist()])
assert not np.array_equal(got, text), "this is the crc32 of the key as text. Take its 8 bytes, key.tobytes()."
right = np.array([zlib.crc32(int(key).to_bytes(8, "little", signed=True)) % 4 for key in keys_now])
assert np.array_equal(got, right), f"the homes of 0, 4, 8, 12 are {right[:4]}, but yours are {got[:4]}."
assert got.dtype == np.int64, f"the homes are int64, but yours are {got.dtype}."
### BEGIN HIDDEN TESTS
for N_now in (1, 3, 8):
    keys_now = np.array([-1, 0, 1, 2**40, -(2**63), 2**63 - 1, 3904355907])
    right = [zlib.crc32(int(key).to_bytes(8, "little", signed=True)) % N_now for key in keys_now]
    got = np.asarray(call(home, keys_now, N_now))
    assert got.tolist() == right, (
        f"N = {N_now}, also negative keys: the homes are {right}, but yours are {got.tolist()}."
    )
assert np.shape(call(home, np.zeros(0, np.int64), 3)) == (0,), "no keys: an array of the shape (0,)."
assert np.asarray(call(home, np.zeros(0, np.int64), 3)).dtype == np.int64, "no keys: the homes are int64, too."
assert int(word_key("")) == 0 and int(word_key("mapreduce")) == zlib.crc32(b"mapreduce"), (
    "another word has a wrong key."
)
### END HIDDEN TESTS

# %% [markdown]
# Now write the whole program of a rank:
#
# 1. `mapper(shard, model)` returns `(keys, values)`. `model` is what every mapper needs besides its shard, such as the
#    centres of k-means. Every rank has the same one: it was broadcast.
# 2. If there is a **combiner**, the rank reduces its own records by key with the combiner. Fewer records have to travel.
# 3. The records travel to their homes: `mapreduce.exchange(comm, parts)` sends the records `parts[d]`, a pair
#    `(keys, values)`, to each rank `d`, and returns what this rank gets, `(keys, values)`, in the order of ranks.
# 4. The rank reduces by key what it got, with the reducer.
#
# A working version of step 1 is given, in case yours does not pass yet: `mapreduce.reduce_by_key`, with the same
# arguments.
#
# The result stays divided among the ranks. `mapreduce.collect(run)` joins it.
#
# A combiner is often the reducer itself, but not always. The given `divide` reduces rows (sum, count) to (mean, count).
# Its combiner is `add`.


# %%
def count(shard, model):
    """A mapper: the record (key, 1) for each key of the shard."""
    return shard, np.ones((len(shard), 1))


def weigh(shard, model):
    """A mapper: (key, (number · model, 1)) for each pair of a key and a number; shard: (keys, numbers)."""
    keys, numbers = shard
    return keys, np.column_stack([numbers * model, np.ones(len(keys))])


def divide(values):
    """A reducer: (mean, count) of rows (sum, count)."""
    total, number = values.sum(axis=0)
    return np.array([total / number, number])


# %% task map-reduce
def map_reduce(comm, shard, mapper, reducer, combiner=None, model=None):
    """(keys, rows) of those keys whose home is this rank, in ascending order: see the four points above.

    The homes are those of your `home`. Returns int64, shape (n,), and float64, shape (n, width).
    """
    # about 7 lines
    ### BEGIN SOLUTION
    keys, values = mapper(shard, model)
    if combiner is not None:
        keys, values = reduce_by_key(keys, values, combiner)
    ranks = home(keys, comm.size)
    parts = [(keys[ranks == rank], values[ranks == rank]) for rank in range(comm.size)]
    keys, values = mapreduce.exchange(comm, parts)
    return reduce_by_key(keys, values, reducer)
    ### END SOLUTION


# %% check map-reduce points=3
import numpy as np

from course.checks import call_on_ranks


def join(run):
    """{key: row} of all ranks; each key must be on one rank, its home."""
    assert run[0] is not None, "map_reduce returned None. End it with a `return` statement."
    assert all(len(each) == 2 for each in run), "map_reduce returns two arrays, keys and rows."
    whole, pairs = {}, [(np.asarray(keys), np.asarray(rows, dtype=float)) for keys, rows in run]
    for keys, rows in pairs:
        assert rows.ndim == 2 and len(keys) == len(rows), "map_reduce returns keys, (n,), and rows, (n, width)."
        for key, row in zip(keys.tolist(), rows.tolist(), strict=True):
            assert key not in whole, (
                f"key {key} is in the results of two ranks. Send each record to the home of its key, then reduce."
            )
            whole[key] = row
    for rank, (keys, _) in enumerate(pairs):
        ranks = np.asarray(home(keys, len(run)))
        assert (ranks == rank).all(), f"rank {rank} has the keys {keys.tolist()}, but their homes are {ranks.tolist()}."
        assert keys.tolist() == sorted(keys.tolist()), f"the keys of rank {rank} are not in ascending order."
    return whole


# Two ranks have the words 5, 6, 5 and 6, 8, 6: 5 and 6 are counted 2 and 3 times, 8 once.
shards = [np.array([5, 6, 5]), np.array([6, 8, 6])]
got = join(call_on_ranks(map_reduce, shards, mapper=count, reducer=add))
assert got != {5: [2], 6: [2], 8: [1]}, "the records that stay on their own rank are lost. Put them into parts, too."
assert 5 in got and 8 in got, f"the records of the other rank are lost: reduce what exchange returns; yours is {got}."
assert got == {5: [2], 6: [3], 8: [1]}, f"5, 6 and 8 are counted 2, 3 and 1 times, but yours are {got}."
shards = [(np.array([5, 6, 5]), np.array([1.0, 2.0, 3.0])), (np.array([6, 8, 6]), np.array([4.0, 5.0, 9.0]))]
right = {5: [4, 2], 6: [10, 3], 8: [10, 1]}
got = join(call_on_ranks(map_reduce, shards, mapper=weigh, reducer=divide, model=2.0))
assert got == right, f"without a combiner the means and counts are {right}, but yours are {got}."
got = join(call_on_ranks(map_reduce, shards, mapper=weigh, reducer=divide, combiner=add, model=2.0))
assert abs(got[6][0] - 17 / 3) > 1e-9, (
    "the reducer ran before the shuffle: each rank made means, and they were put together. Use the combiner there."
)
assert got != {5: [8, 2], 6: [30, 3], 8: [10, 1]}, (
    "at the home the records are reduced by the reducer, not the combiner."
)
assert got == right, f"with a combiner the result is the same, {right}, but yours is {got}."
### BEGIN HIDDEN TESTS
from course.spmd import spmd

rng = np.random.default_rng(2)
for N_now, n_now in ((1, 5), (2, 0), (3, 40), (5, 3), (8, 100)):
    all_now = rng.integers(0, 12, size=n_now) * N_now
    shards = np.split(all_now, np.sort(rng.integers(0, n_now + 1, size=N_now - 1)))
    if N_now > 1:
        shards[0], shards[1] = shards[0][:0], np.concatenate(shards[:2])
    for combiner_now in (None, add):
        run = call_on_ranks(map_reduce, shards, mapper=count, reducer=add, combiner=combiner_now)
        whole = {int(key): [float(number)] for key, number in zip(*np.unique(all_now, return_counts=True), strict=True)}
        got = join(run)
        assert got == whole, f"{N_now} ranks, some shards empty: the counts are {whole}, but yours are {got}."
        shapes = [np.asarray(each[1]).shape[1:] for each in run]
        assert shapes == [(1,)] * N_now, f"a rank without keys returns rows of the shape (0, 1); yours are {shapes}."
        sent = [int(number) for number in run.trace.bytes_sent]
        every, once = (
            [16 * int((np.asarray(home(travels(shard), N_now)) != rank).sum()) for rank, shard in enumerate(shards)]
            for travels in (np.asarray, np.unique)
        )
        leave = every if combiner_now is None else once
        assert sent == leave or sent != every, "the combiner saves nothing: reduce by key with it before the exchange."
        assert sent == leave, (
            f"{N_now} ranks, {'with' if combiner_now else 'without'} a combiner: only records whose home is another rank "
            f"are sent, {leave} bytes per rank, but yours sent {sent}."
        )
### END HIDDEN TESTS

# %% [markdown]
# Count the words of NumPy's own documentation on four ranks, without and with the combiner. First predict.

# %% predict saving
# 135,000 words, about 4,200 different ones, four ranks. How many times fewer bytes travel with the combiner? Write a number.

# %% measure
# Measurement (not graded): the words of NumPy's docstrings on simulated ranks, then on four engines.
words = mapreduce.words()
shards = np.array_split(np.array([word_key(word) for word in words]), 4)
runs = {
    name: spmd(map_reduce, shards, mapper=count, reducer=add, combiner=combiner, carrier="simulated", timeout=60)
    for name, combiner in {"without a combiner": None, "with a combiner": add}.items()
}
keys, rows = mapreduce.collect(runs["with a combiner"])
name_of = {word_key(word): word for word in words}
top = np.argsort(-rows[:, 0], kind="stable")[:5]
print(f"{len(words):,} words, {len(keys):,} different ones; the most frequent: {[name_of[keys[i]] for i in top]}")
for name, run in runs.items():
    print(f"{name:18}: {run.trace.bytes_sent.sum():9,} bytes; received per rank {run.trace.bytes_received.tolist()}")
saved = [int(run.trace.bytes_sent.sum()) for run in runs.values()]
outcome("saving", saved[0] / saved[1])
cluster.start(4)
run = spmd(map_reduce, shards, mapper=count, reducer=add, combiner=add, timeout=60)
same = all(np.array_equal(one, other) for one, other in zip(mapreduce.collect(run), (keys, rows), strict=True))
print(f"on four engines: {run.trace.bytes_sent.sum():,} bytes, {'the same' if same else 'other'} counts")
plots.curves(
    {name: (range(1, len(keys) + 1), np.sort(numbers)[::-1]) for name, numbers in {"all words": rows[:, 0]}.items()},
    x="place of the word, the most frequent first",
    y="how often it occurs",
    title="Words of NumPy's documentation",
    log_x=True,
    log_y=True,
)

# %% [markdown]
# Without a combiner, the ranks receive different amounts: the home of a frequent word gets all of its records. This is
# called **skew**. With a combiner, each rank sends a word at most once, however frequent it is, so the skew is gone,
# too.
#
# ## Step 3. Which functions may be combined
#
# With a combiner, a reducer gets results of the combiner instead of values. How often the combiner ran, and in which
# order the records come, depends on the machines. So a function $f$ may be used as combiner and reducer only if for
# any parts, in any order,
#
# $$ f\big(\,[\,f(\text{left}),\, f(\text{right})\,]\,\big) = f(\text{all numbers}) . $$
#
# For `max` this holds. For the mean it does not: the mean of 1, 2, 3 is 2, but the left part 1 and the right part 2, 3
# have the means 1 and 2.5, whose mean is 1.75. Two parts of equal size would not have shown it. For `numbers[0]`, the
# first number, every cut of the list in its given order passes. Only another order shows that it may not be combined.
#
# Write a function that looks for a counterexample: in every order of the numbers, and for every cut of this order into
# two parts that are not empty. `itertools.permutations(numbers)` yields all orders, as tuples.


# %% task counterexample
def counterexample(f, numbers):
    """(left, right), two lists, with f([f(left), f(right)]) != f(numbers); None if there are none.

    f: function, list of numbers -> number. numbers: a list of at least 2 whole numbers; left and right together are
    the same numbers, in any order, and neither is empty. f(numbers) is taken in the given order.
    """
    # about 6 lines
    ### BEGIN SOLUTION
    for order in itertools.permutations(numbers):
        for cut in range(1, len(numbers)):
            left, right = list(order[:cut]), list(order[cut:])
            if f([f(left), f(right)]) != f(numbers):
                return left, right
    return None
    ### END SOLUTION


# %% check counterexample points=2
import numpy as np

from course.checks import call


def judge_pair(f, numbers, name):
    """Check that the student's function finds a counterexample of f."""
    got = call(counterexample, f, numbers)
    assert got is not None, (
        f"{name} may not be combined, but you found no counterexample in {numbers}. Try every order and every cut, "
        "and compare with f(numbers)."
    )
    assert got is not True, "return the two parts, (left, right), not True."
    assert len(got) == 2, f"a counterexample is a pair (left, right); yours is {got}."
    left, right = list(got[0]), list(got[1])
    assert left and right, "one of the two parts is empty. Cut after 1, 2, ... numbers, and not after all of them."
    assert sorted(left + right) == sorted(numbers), f"{left} and {right} together are not the numbers {numbers}."
    assert f([f(left), f(right)]) != f(numbers), (
        f"{name}: {left} and {right} is no counterexample: f([f(left), f(right)]) is {f([f(left), f(right)])}, like "
        "f(numbers)."
    )


asked = []


def largest(numbers):
    asked.append(numbers)
    return max(numbers, default=0)


got = call(counterexample, largest, [3, 1, 2])
assert got is not False, "without a counterexample return None, not False."
assert got is None, f"max may be combined, but yours says {got}. Compare f([f(left), f(right)]) with f(numbers)."
assert all(len(each) > 0 for each in asked), "f was called with an empty list. Both parts have at least one number."
judge_pair(lambda numbers: sum(numbers) / len(numbers), [1, 2, 3], "the mean")
judge_pair(len, [4, 4, 4], "the count")
judge_pair(lambda numbers: numbers[0], [1, 2], "the first number")
### BEGIN HIDDEN TESTS
assert call(counterexample, sum, [5, -2, 5]) is None, "the sum may be combined, but yours found a counterexample."
assert call(counterexample, min, [2, 7, 7, 3]) is None, "min may be combined, but yours found a counterexample."
judge_pair(lambda numbers: numbers[-1], [1, 2, 3], "the last number")
judge_pair(lambda numbers: sorted(numbers)[len(numbers) // 2], [1, 2, 3, 9], "the median")
judge_pair(lambda numbers: sum(numbers) / len(numbers), [1, 2, 3, 10], "the mean")
judge_pair(lambda numbers: max(numbers) - min(numbers), [1, 2, 4], "the range")
judge_pair(lambda numbers: sum(numbers) / len(numbers), [0, 0, 4], "the mean")
judge_pair(lambda numbers: sum(number * number for number in numbers), [1, 0, 2], "the sum of squares")
judge_pair(lambda numbers: numbers[0] - sum(numbers[1:]), [1, 1, 1], "the difference")
### END HIDDEN TESTS

# %% measure
# Demonstration (not graded): your counterexamples. Add functions.
functions = {
    "sum": sum,
    "max": max,
    "count": len,
    "mean": np.mean,
    "median": np.median,
    "first number": lambda numbers: numbers[0],
    "sum of squares": lambda numbers: sum(number**2 for number in numbers),
}
for name, f in functions.items():
    pair = counterexample(f, [1, 2, 3, 5])
    print(f"{name:15}: " + ("may be combined, for these numbers" if pair is None else f"{pair[0]} and {pair[1]}"))

# %% [markdown]
# A count and a mean can still be computed with a combiner: let the **mapper** return (number, 1), add in the combiner,
# and divide in the reducer. `divide` does this. For the median there is no such pair of numbers.
#
# ## Step 4. Regression as sums
#
# Cheng-Tao Chu and others (*Map-Reduce for Machine Learning on Multicore*, NIPS 2006) asked which learning algorithms
# fit. Their answer: all that look at the data only through **sums over examples**. Michael Kearns (*Efficient
# Noise-Tolerant Learning from Statistical Queries*, STOC 1993) had called this the **statistical query model**. "Exact implementation of ML algorithms, not parallel approximations", says the slide: the
# result is that of one machine, up to rounding.
#
# Least squares looks for the $w$ that makes $\sum_i (x_i^T w - y_i)^2$ smallest. Where the gradient is 0,
#
# $$ A \, w = b, \qquad A = \sum_i x_i x_i^T = X^T X, \qquad b = \sum_i x_i \, y_i = X^T y . $$
#
# Each rank computes the sums of its own rows, and adds a small matrix to the others'. As records: the key $j$ has the
# row $j$ of $[A \;\; b]$, of width $d + 1$. So the rows of the equations have different homes.
#
# By hand: $x_1 = (1, 1)$, $x_2 = (2, 1)$, $x_3 = (3, 1)$ and $y = (1, 2, 4)$ give the rows $(14, 6, 17)$ and
# $(6, 3, 7)$. The solution is $w = (3/2, -2/3)$.


# %% task least-squares
def least_squares(shard, model):
    """A mapper: the keys 0, ..., d - 1, int64, and the rows of [XᵀX, Xᵀy], shape (d, d + 1), of this shard.

    shard: (X, y), shapes (rows, d) and (rows,); there may be no rows. model: not used.
    """
    # about 2 lines
    ### BEGIN SOLUTION
    X, y = shard
    return np.arange(X.shape[1]), np.column_stack([X.T @ X, X.T @ y])
    ### END SOLUTION


# %% check least-squares points=1
import numpy as np

from course.checks import call, is_close

X_now, y_now = np.array([[1.0, 1.0], [2.0, 1.0], [3.0, 1.0]]), np.array([1.0, 2.0, 4.0])
got = call(least_squares, (X_now, y_now), None)
assert got is not None, "least_squares returned None. End it with a `return` statement."
assert len(got) == 2, f"a mapper returns two arrays, keys and values. Yours returns {len(got)} things."
assert np.asarray(got[0]).tolist() == [0, 1], f"two unknowns have the keys 0 and 1; yours are {np.asarray(got[0])}."
assert np.asarray(got[0]).dtype == np.int64, f"keys are int64, but yours are {np.asarray(got[0]).dtype}."
rows_now = np.asarray(got[1], dtype=float)
assert not np.array_equal(rows_now, X_now), "there is one record per unknown, not per example: sum over the examples."
assert rows_now.shape == (2, 3), f"the rows of [A b] have the shape (2, 3); yours have {rows_now.shape}."
assert not np.allclose(rows_now, np.array([[14, 6, 17], [6, 3, 7]]) / 3), (
    "you divided by the number of rows. Shards have different numbers of rows, so send sums."
)
assert not np.allclose(rows_now, [[17, 14, 6], [7, 6, 3]]), "b comes last: [A b]."
assert not np.allclose(rows_now[:, 2], [3 / 2, -2 / 3]), (
    "the last column is this shard's own solution w. A mapper returns sums; the solution needs those of all shards."
)
assert rows_now.tolist() == [[14, 6, 17], [6, 3, 7]], f"by hand: [[14 6 17] [6 3 7]], but yours is\n{rows_now}"
### BEGIN HIDDEN TESTS
rng = np.random.default_rng(3)
for n_now, d_now in ((0, 3), (1, 1), (7, 4)):
    X_now, y_now = rng.normal(size=(n_now, d_now)), rng.normal(size=n_now)
    got = call(least_squares, (X_now, y_now), None)
    right = np.array([[*(X_now.T @ X_now)[j], X_now[:, j] @ y_now] for j in range(d_now)])
    assert np.asarray(got[0]).tolist() == list(range(d_now)), f"{n_now} rows, {d_now} unknowns: the keys are wrong."
    assert is_close(got[1], right), f"{n_now} rows, {d_now} unknowns: expected\n{right}\nyours\n{got[1]}"
### END HIDDEN TESTS

# %% [markdown]
# Logistic regression has no such formula, but **Newton's method** leads to one in each iteration. With
# $p_i = 1 / (1 + e^{-x_i^T w})$, the predicted probability that $y_i = 1$, the gradient and the Hessian of the loss are
# again sums over examples:
#
# $$ g = \sum_i (p_i - y_i) \, x_i, \qquad H = \sum_i p_i (1 - p_i) \, x_i x_i^T, \qquad
# w \leftarrow w - H^{-1} g . $$
#
# The records are the rows of $[H \;\; g]$. Here the mapper needs $w$: it is the `model`.
#
# By hand: $w = 0$, so $p = 1/2$; with $x_1 = 1$, $x_2 = 2$ and $y = (0, 1)$, $g = 1/2 - 1 = -1/2$ and
# $H = 1/4 + 4/4 = 5/4$. The new $w$ is $0 + 2/5$.


# %% task newton
def newton(shard, w):
    """A mapper: the keys 0, ..., d - 1, int64, and the rows of [H, g], shape (d, d + 1), of this shard at w.

    shard: (X, y), shapes (rows, d) and (rows,); y is 0 or 1. w: shape (d,).
    """
    # about 4 lines
    ### BEGIN SOLUTION
    X, y = shard
    p = 1 / (1 + np.exp(-X @ w))
    return np.arange(len(w)), np.column_stack([(X.T * (p * (1 - p))) @ X, X.T @ (p - y)])
    ### END SOLUTION


# %% check newton points=2
import numpy as np

from course.checks import call, is_close

X_now, y_now = np.array([[1.0], [2.0]]), np.array([0.0, 1.0])
got = call(newton, (X_now, y_now), np.array([0.0]))
assert got is not None, "newton returned None. End it with a `return` statement."
assert len(got) == 2, f"a mapper returns two arrays, keys and values. Yours returns {len(got)} things."
assert np.asarray(got[0]).tolist() == [0], f"one unknown has the key 0; yours are {np.asarray(got[0])}."
rows_now = np.asarray(got[1], dtype=float)
assert rows_now.shape == (1, 2), f"the rows of [H g] have the shape (1, 2); yours have {rows_now.shape}."
assert rows_now.tolist() != [[1.25, 0.5]], "g has the wrong sign: it is the sum of (p - y) x."
assert rows_now.tolist() != [[5, -0.5]], "H lacks the factors p (1 - p), here 1/4."
assert rows_now.tolist() != [[2.5, -0.5]], "H has the factor p. It is p (1 - p)."
assert rows_now.tolist() != [[-0.5, 1.25]], "g comes last: [H g]."
assert rows_now.tolist() != [[0.625, -0.25]], "you divided by the number of rows. Shards differ, so send sums."
assert rows_now.tolist() != [[1.25, 0.4]], (
    "this row has H and the step. A mapper returns sums; the step needs all of them."
)
assert rows_now.tolist() == [[1.25, -0.5]], f"by hand: H = 5/4 and g = -1/2, but yours is {rows_now.tolist()}."
X_now = np.array([[1.0, 2.0], [0.5, -1.0], [3.0, 0.0]])
y_now, w_now = np.array([1.0, 0.0, 1.0]), np.array([0.3, -0.4])
p_now = 1 / (1 + np.exp(-X_now @ w_now))
right = np.array(
    [[*(X_now.T @ np.diag(p_now * (1 - p_now)) @ X_now)[j], X_now[:, j] @ (p_now - y_now)] for j in (0, 1)]
)
flat = np.column_stack([X_now.T @ X_now / 4, X_now.T @ (p_now - y_now)])
rows_now = np.asarray(call(newton, (X_now, y_now), w_now)[1], dtype=float)
assert not np.allclose(rows_now, flat), "H has the factor 1/4 whatever w is. It is p (1 - p) of each example."
assert is_close(rows_now, right), f"three examples, w = (0.3, -0.4): expected\n{right}\nyours\n{rows_now}"
### BEGIN HIDDEN TESTS
rng = np.random.default_rng(4)
for n_now, d_now in ((0, 2), (1, 3), (9, 4)):
    X_now, y_now, w_now = (
        rng.normal(size=(n_now, d_now)),
        rng.integers(0, 2, n_now).astype(float),
        rng.normal(size=d_now),
    )
    p_now = 1 / (1 + np.exp(-X_now @ w_now))
    right = np.column_stack([X_now.T @ (X_now * (p_now * (1 - p_now))[:, None]), (p_now - y_now) @ X_now])
    got = call(newton, (X_now, y_now), w_now)
    assert np.asarray(got[0]).tolist() == list(range(d_now)), f"{n_now} rows, {d_now} unknowns: the keys are wrong."
    assert np.asarray(got[0]).dtype == np.int64, "keys are int64."
    assert is_close(got[1], right), f"{n_now} rows, {d_now} unknowns: expected\n{right}\nyours\n{got[1]}"
### END HIDDEN TESTS

# %% measure
# Measurement (not graded): who went to a doctor in the RAND experiment? Newton on four ranks, beside scikit-learn.
from sklearn.linear_model import LogisticRegression

X, y = mapreduce.visits()
shards = list(zip(np.array_split(X, 4), np.array_split(y, 4), strict=True))
step = {"mapper": newton, "reducer": add, "combiner": add, "carrier": "simulated"}


def newton_steps(shards, times=6):
    """w after each step, all shards together; shape (times, d)."""
    path = [np.zeros(shards[0][0].shape[1])]
    for _ in range(times):
        run = spmd(map_reduce, shards, model=path[-1], **step)
        path.append(path[-1] - mapreduce.solve(*mapreduce.collect(run)))
    return np.array(path[1:]), int(run.trace.bytes_sent.sum())


together, sent = newton_steps(shards)
averaged = np.mean([newton_steps([shard])[0] for shard in shards], axis=0)
reference = LogisticRegression(C=np.inf, fit_intercept=False, tol=1e-10, max_iter=1000).fit(X, y).coef_[0]
far = {
    "Newton on all shards": np.abs(together - reference).max(axis=1),
    "mean of the shards' own": np.abs(averaged - reference).max(axis=1),
}
print(f"One step sends {sent:,} bytes in all, for {len(X):,} examples of {X.shape[1]} numbers.")
for name, each in far.items():
    print(f"{name:23}: largest difference to scikit-learn after 6 steps {each[-1]:.1g}")
plots.curves(
    {name: (range(1, 7), each) for name, each in far.items()},
    x="Newton step",
    y="largest difference to scikit-learn",
    title="Sums are exact, averages of models are not",
    log_y=True,
)

# %% [markdown]
# A few steps suffice, and each sends less than 10 kB, whatever the number of examples. The tiny difference that stays
# is scikit-learn's, which stops at its tolerance. Averaging the shards' own solutions (lab 10) ends somewhere else, and
# more steps do not change that: the rows are cut in the order of the data set, so each shard has other people.
#
# ## Step 5. k-means
#
# **k-means** looks for $k$ centres so that the squared distances of all points to their nearest centre are small. It
# repeats two steps (Lloyd, *Least Squares Quantization in PCM*, written in 1957, published in 1982): each point goes to its nearest centre, and each centre moves to the
# mean of its points. In MapReduce the key is the number of the nearest centre, and the value is the point with a 1
# behind it, so that sums of coordinates and a count come back. What if a centre has no points? Then there is no record
# with its key, and a careless program divides by 0 or loses the centre. Here it **stays where it is**.
#
# By hand: the points 0, 2 and 10 on a line and the centres 1, 9 and 100. The records are (0; 0, 1), (0; 2, 1) and
# (1; 10, 1). The new centres are 1, 10 and 100.


# %% task k-means
def nearest(shard, centres):
    """A mapper: for each point the number of its nearest centre, int64, and the row (point, 1).

    shard: points, shape (n, d); there may be none. centres: shape (k, d). The first of equally near centres counts.
    Returns keys, shape (n,), and values, shape (n, d + 1).
    """
    # about 3 lines
    ### BEGIN SOLUTION
    squares = (centres**2).sum(axis=1) - 2 * shard @ centres.T
    return squares.argmin(axis=1), np.column_stack([shard, np.ones(len(shard))])
    ### END SOLUTION


def move_centres(keys, rows, centres):
    """The new centres, a new array, shape (k, d): the mean of each centre's points; without points it stays.

    keys, rows: the sums (of points, count) of all centres that have points, in any order; shapes (m,) and (m, d + 1).
    """
    # about 3 lines
    ### BEGIN SOLUTION
    moved = centres.copy()
    moved[keys] = rows[:, :-1] / rows[:, -1:]
    return moved
    ### END SOLUTION


# %% check k-means points=2
import numpy as np

from course.checks import call, is_close

centres_now = np.array([[1.0], [9.0], [100.0]])
got = call(nearest, np.array([[0.0], [2.0], [10.0]]), centres_now)
assert got is not None, "nearest returned None. End it with a `return` statement."
assert len(got) == 2, f"a mapper returns two arrays, keys and values. Yours returns {len(got)} things."
assert np.asarray(got[0]).tolist() != [2, 2, 2], "these are the farthest centres. Take the nearest, argmin."
assert np.asarray(got[0]).tolist() == [0, 0, 1], f"by hand the keys are 0, 0, 1, but yours are {np.asarray(got[0])}."
assert np.asarray(got[0]).dtype == np.int64, f"keys are int64, but yours are {np.asarray(got[0]).dtype}."
values_now = np.asarray(got[1], dtype=float)
assert values_now.shape == (3, 2), f"each value is the point and a 1 behind it, shape (3, 2); yours {values_now.shape}."
assert values_now.tolist() != [[1, 0], [1, 2], [1, 10]], "the 1 comes behind the point, not before it."
assert values_now.tolist() == [[0, 1], [2, 1], [10, 1]], f"the values are (point, 1); yours are {values_now.tolist()}."
plane = np.array([[0.0, 0.0], [3.0, 3.0]])
got = np.asarray(call(nearest, np.array([[2.0, 1.0], [4.0, 0.0], [1.0, 1.0]]), plane)[0])
assert got.tolist() != [1, 1, 0], "the point (2, 1) is equally near to both centres: then the first one counts."
assert got.tolist() == [0, 1, 0], (
    f"with the centres (0, 0) and (3, 3), the points (2, 1), (4, 0), (1, 1) have the keys 0, 1, 0, but yours are {got}. "
    "Nearest means the smallest sum of squares."
)
got = call(move_centres, np.array([1, 0]), np.array([[10.0, 1.0], [2.0, 2.0]]), centres_now, new=True)
assert got is not None, "move_centres returned None. End it with a `return` statement."
got = np.asarray(got, dtype=float)
assert got.shape != (2, 1), "a centre is lost. The centre without points stays where it is."
assert got.shape == (3, 1), f"three centres on a line have the shape (3, 1); yours have {got.shape}."
assert not np.isnan(got).any(), "a centre is NaN: 0 / 0. The centre without points stays where it is."
assert got.ravel().tolist() != [10, 1, 100], "the rows come in any order: the key says which centre a row belongs to."
assert got.ravel().tolist() != [1, 10, 0], "the centre without points moved to 0. It stays where it is."
assert got.ravel().tolist() != [2, 10, 100], "these are sums. Divide by the counts, the last column."
assert got.ravel().tolist() == [1, 10, 100], f"by hand the new centres are 1, 10, 100, but yours are {got.ravel()}."
### BEGIN HIDDEN TESTS
rng = np.random.default_rng(5)
for n_now, d_now, k_now in ((0, 2, 3), (1, 1, 1), (30, 3, 7)):
    points, centres_now = rng.integers(-4, 5, (n_now, d_now)).astype(float), rng.integers(-4, 5, (k_now, d_now)) * 1.0
    right = [int(((point - centres_now) ** 2).sum(axis=1).argmin()) for point in points]
    got = call(nearest, points, centres_now)
    assert np.asarray(got[0]).tolist() == right, f"{n_now} points, {k_now} centres: the nearest are {right}."
    assert np.asarray(got[0]).dtype == np.int64, "keys are int64."
    assert np.array_equal(np.asarray(got[1]), np.column_stack([points, np.ones(n_now)])), (
        f"{n_now} points: wrong values."
    )
    keys_now = np.unique(np.array(right, np.int64))[::-1]
    sums = np.array([[*points[np.array(right) == key].sum(axis=0), right.count(key)] for key in keys_now])
    sums = sums.reshape(len(keys_now), d_now + 1)
    moved = [points[np.array(right) == key].mean(axis=0) if key in right else centres_now[key] for key in range(k_now)]
    got = call(move_centres, keys_now, sums, centres_now, new=True)
    assert is_close(got, moved), (
        f"{n_now} points, {k_now} centres, {k_now - len(keys_now)} without points: wrong centres."
    )
### END HIDDEN TESTS

# %% predict k-means-saving
# 4,000 digits of 784 numbers, 10 centres, 4 ranks. How many times fewer bytes travel with the combiner? Write a number.

# %% measure
# Measurement (not graded): 15 steps of k-means on 4,000 digits, beside scikit-learn. Change the number of centres.
from sklearn.cluster import KMeans

points = mapreduce.digits()[0][:, :-1]
shards, k = np.array_split(points, 4), 10
centres = points[:k]
step = {"mapper": nearest, "reducer": add, "carrier": "simulated", "timeout": 60}
for _ in range(15):
    run = spmd(map_reduce, shards, combiner=add, model=centres, **step)
    centres = move_centres(*mapreduce.collect(run), centres)
raw = spmd(map_reduce, shards, model=centres, **step).trace.bytes_sent.sum()
print(f"bytes of one step: {raw:,} without a combiner, {run.trace.bytes_sent.sum():,} with it")
outcome("k-means-saving", raw / run.trace.bytes_sent.sum())
reference = KMeans(k, init=points[:k], n_init=1, max_iter=15, tol=0, algorithm="lloyd").fit(points)
print(f"largest difference to scikit-learn's centres: {np.abs(centres - reference.cluster_centers_).max():.1g}")
plots.images(
    centres.reshape(-1, 28, 28), [f"centre {i}" for i in range(k)], title="Your centres: means of digits", limits=(0, 1)
)

# %% [markdown]
# Of each shard, at most $k$ records travel instead of one per point. So the saving is about
# $n / (N k)$: more data does not cost more bytes.
#
# ## Step 6. PageRank
#
# PageRank (Brin and Page, *The Anatomy of a Large-Scale Hypertextual Web Search Engine*, 1998) is the share of time that a reader spends on each page who follows a random link with
# probability $\alpha = 0.85$ and otherwise jumps to any of the $n$ pages. A page $u$ with $d_u$ links gives each of them
# $p_u / d_u$. A page without links is **dangling**: its reader jumps to any page. So
#
# $$ p_v \leftarrow \frac{1 - \alpha}{n} + \alpha \Big( \sum_{u \to v} \frac{p_u}{d_u} + \frac{D}{n} \Big), \qquad
# D = \sum_{u \text{ dangling}} p_u . $$
#
# The sum over links is a MapReduce whose keys are pages. $D$ gets a key that is no page, the number $n$.
#
# By hand: three pages with the links $0 \to 1$, $0 \to 2$ and $1 \to 2$, all $p = 1/3$. Page 2 is dangling. The sums are
# $0$, $1/6$ and $1/6 + 1/3$, and $D = 1/3$. The new $p$ are $0.05 + 0.85 \, (0 + 1/9) = 0.1444$, $0.2861$ and $0.5694$,
# which add up to 1.


# %% task page-rank
def follow(shard, p):
    """A mapper: for each link u -> v the record (v, p[u] / number of links of u), for each dangling page u (n, p[u]).

    shard: (pages, links) of this shard: int64, shape (m,), and int64, shape (links, 2), all links (u, v) of these pages,
    in any order. p: the PageRank of all n pages. Returns keys, int64, shape (records,), and values, (records, 1).
    """
    pages, links = shard
    # about 5 lines
    ### BEGIN SOLUTION
    degrees = np.bincount(links[:, 0], minlength=len(p))
    dangling = pages[degrees[pages] == 0]
    keys = np.concatenate([links[:, 1], np.full(len(dangling), len(p))])
    values = np.concatenate([p[links[:, 0]] / degrees[links[:, 0]], p[dangling]])
    return keys, values[:, None]
    ### END SOLUTION


def new_ranks(keys, rows, n, alpha=0.85):
    """The new p of all n pages, shape (n,).

    keys, rows: the sums of the records, in any order; shapes (m,) and (m, 1). A page without a record has no link to it.
    The key n may be missing, too: then no page is dangling.
    """
    # about 3 lines
    ### BEGIN SOLUTION
    sums = np.zeros(n + 1)
    sums[keys] = rows[:, 0]
    return (1 - alpha) / n + alpha * (sums[:n] + sums[n] / n)
    ### END SOLUTION


# %% check page-rank points=2
import numpy as np

from course.checks import call, is_close


def total(got, n):
    """The sums by key of records, shape (n + 1,)."""
    assert got is not None, "follow returned None. End it with a `return` statement."
    assert len(got) == 2, f"a mapper returns two arrays, keys and values. Yours returns {len(got)} things."
    keys, values = np.asarray(got[0]), np.asarray(got[1], dtype=float)
    assert keys.dtype == np.int64, f"keys are int64, but yours are {keys.dtype}."
    assert values.shape == (len(keys), 1), f"{len(keys)} records have values of shape ({len(keys)}, 1); {values.shape}."
    assert len(keys) == 0 or (keys.min() >= 0 and keys.max() <= n), (
        f"keys are pages, 0 to n - 1, or n; yours are {keys}."
    )
    return np.bincount(keys, weights=values[:, 0], minlength=n + 1)


p_now = np.full(3, 1 / 3)
got = total(call(follow, (np.arange(3), np.array([[1, 2], [0, 1], [0, 2]])), p_now), 3)
assert not is_close(got, [1 / 3, 1 / 3, 0, 1 / 3]), (
    "the keys are where links come from. A record goes to v, the second."
)
assert not is_close(got, [0, 1 / 3, 2 / 3, 1 / 3]), "each link has all of p[u]. Divide by the number of links of u."
assert not is_close(got, [0, 1 / 6, 1 / 2, 0]), "page 2 is dangling: its p belongs to the key n."
assert not is_close(got, [0, 1 / 6, 1 / 2, 1]), "the key n has the p of all pages. Only dangling ones belong to it."
assert is_close(got, [0, 1 / 6, 1 / 2, 1 / 3]), (
    f"by hand the sums for the keys 0, 1, 2 and n = 3 are 0, 1/6, 1/2, 1/3, but yours are {got}."
)
got = call(new_ranks, np.array([3, 2, 1]), np.array([[1 / 3], [1 / 2], [1 / 6]]), 3)
assert got is not None, "new_ranks returned None. End it with a `return` statement."
got, right = np.asarray(got, dtype=float), 0.05 + 0.85 * (np.array([0, 1 / 6, 1 / 2]) + 1 / 9)
assert got.shape == (3,), f"three pages have three numbers, shape (3,); yours have {got.shape}. Page 0 has no record."
assert not is_close(got, right - 0.85 / 9), "the sum is less than 1: what dangling pages have is lost. Add D / n."
assert not is_close(got, right + 0.1), "(1 - α) is divided by n: the jump goes to one of n pages."
assert not is_close(got, right + 0.85 * 2 / 9), "D is divided by n: each page gets its share."
assert not is_close(got, right + 0.15 / 9), "D belongs inside the brackets, times α."
assert is_close(got, right), f"by hand the new p are {right.round(4)}, but yours are {got.round(4)}."
### BEGIN HIDDEN TESTS
rng = np.random.default_rng(6)
for n_now, m_now in ((1, 0), (4, 4), (20, 30)):
    links_now = np.unique(rng.integers(0, n_now, (m_now, 2)), axis=0)
    p_now = rng.random(n_now)
    for parts in (1, 3):
        sums = np.zeros(n_now + 1)
        for pages in np.array_split(np.arange(n_now), parts):
            mine = rng.permutation(links_now[np.isin(links_now[:, 0], pages)])
            sums += total(call(follow, (rng.permutation(pages), mine), p_now), n_now)
        right = np.zeros(n_now + 1)
        for u in range(n_now):
            out = links_now[links_now[:, 0] == u, 1]
            for v in out:
                right[v] += p_now[u] / len(out)
            right[n_now] += p_now[u] * (len(out) == 0)
        assert is_close(sums, right), f"{n_now} pages in {parts} shards: expected sums\n{right}\nyours\n{sums}"
got = call(new_ranks, np.array([0]), np.array([[1.0]]), 2)
assert is_close(got, [0.075 + 0.85, 0.075]), "no dangling page, and nobody links to page 1: expected 0.925 and 0.075."
got = call(new_ranks, np.array([1, 0]), np.array([[0.25], [0.75]]), 2, alpha=0.5)
assert is_close(got, [0.625, 0.375]), f"α = 0.5: expected 0.625 and 0.375, yours {got}."
got = call(new_ranks, np.array([2, 1]), np.array([[0.5], [0.5]]), 2, alpha=1.0)
assert is_close(got, [0.25, 0.75]), f"α = 1: expected 0.25 and 0.75, yours {got}."
### END HIDDEN TESTS

# %% measure
# Measurement (not graded): 30 steps on a web of 2,000 pages, beside the solution of the linear equations.
n, links = 2000, mapreduce.web(2000, seed=0)
shards = [(pages, links[np.isin(links[:, 0], pages)]) for pages in np.array_split(np.arange(n), 4)]
degrees = np.bincount(links[:, 0], minlength=n)
flows = np.zeros((n, n))
flows[links[:, 1], links[:, 0]] = 1 / degrees[links[:, 0]]
flows[:, degrees == 0] = 1 / n
exact = np.linalg.solve(np.eye(n) - 0.85 * flows, np.full(n, 0.15 / n))
p, far = np.full(n, 1 / n), []
for _ in range(30):
    run = spmd(map_reduce, shards, mapper=follow, reducer=add, combiner=add, model=p, carrier="simulated", timeout=60)
    p = new_ranks(*mapreduce.collect(run), n)
    far.append(np.abs(p - exact).sum())
print(f"{len(links):,} links, {(degrees == 0).sum()} dangling pages, {run.trace.bytes_sent.sum():,} bytes per step")
print(f"sum of p: {p.sum():.12f}; after 30 steps {far[-1]:.1g} from the exact solution (sum of differences)")
plots.curves(
    {"your steps": (range(1, 31), far), "0.85 to the power k": (range(1, 31), 0.85 ** np.arange(1, 31))},
    x="step k",
    y="sum of differences to the exact p",
    title="PageRank: each step is a MapReduce",
    log_y=True,
)

# %% [markdown]
# A step makes the sum of differences smaller by the factor $\alpha = 0.85$ at least, whatever the links are; on this web
# by more. Each step reads all links again and broadcasts all of $p$. This is the lecture's list of limitations: many passes over
# the data, a synchronization in each of them, and a broadcast. Hadoop also wrote each step's result to its file system
# and read it again. Spark keeps it in memory.
#
# ## Step 7. L-BFGS against SGD
#
# Is there a method that needs fewer passes? **L-BFGS** (Nocedal, *Updating Quasi-Newton Matrices with Limited Storage*,
# 1980; Liu and Nocedal, *On the Limited Memory BFGS Method for Large Scale Optimization*, 1989) learns the curvature while
# it descends. It keeps the last $m$ steps $s_i = w_{i+1} - w_i$ and changes of the gradient $y_i = g_{i+1} - g_i$.
# From them it computes the direction $r \approx H^{-1} g$, without any matrix, by two loops. With
# $\rho_i = 1 / (y_i^T s_i)$ and $q = g$ at the beginning:
#
# 1. for $i$ from the newest pair to the oldest: $\alpha_i = \rho_i \, s_i^T q$, then $q \leftarrow q - \alpha_i y_i$;
# 2. $r = \dfrac{s^T y}{y^T y} \, q$ with the newest pair $s, y$; without any pair $r = q$;
# 3. for $i$ from the oldest pair to the newest: $\beta = \rho_i \, y_i^T r$, then $r \leftarrow r + (\alpha_i - \beta) s_i$.
#
# DistBelief's **Sandblaster** (Dean and others, *Large Scale Distributed Deep Networks*, 2012) divides all these vectors
# among its servers in the same way: a rank that has the first part of $w$ also has the first part of $g$, of all $s_i$
# and of all $y_i$. The two loops need only **inner products**, and an inner product is a sum over the parts.
# `mapreduce.dot(comm, u, v)` returns it on all ranks: each rank sends one number of 8 bytes to each other rank. No vector
# travels here.
#
# By hand, on one rank: $g = (2, 4)$, one pair $s = (1, 1)$, $y = (2, 4)$. Then $\rho = 1/6$, $\alpha = 1/6 \cdot 6 = 1$,
# $q = (0, 0)$, $r = (0, 0)$, $\beta = 0$, and $r = (0, 0) + 1 \cdot (1, 1) = (1, 1)$. So L-BFGS knows: a gradient like
# $y$ comes from a step like $s$.


# %% task direction
def direction(comm, g, S, Y):
    """This rank's part of r, by the two loops above; a new array, shape (own,).

    g: this rank's part of the gradient, shape (own,), maybe of size 0. S, Y: lists of this rank's parts of s_i and y_i,
    the oldest first; both may be empty. Inner products are those of the whole vectors: mapreduce.dot(comm, u, v).
    """
    # about 10 lines
    ### BEGIN SOLUTION
    r, alphas = g.copy(), []
    rhos = [1 / mapreduce.dot(comm, y, s) for s, y in zip(S, Y, strict=True)]
    for s, y, rho in zip(S[::-1], Y[::-1], rhos[::-1], strict=True):
        alphas.append(rho * mapreduce.dot(comm, s, r))
        r -= alphas[-1] * y
    if S:
        r /= rhos[-1] * mapreduce.dot(comm, Y[-1], Y[-1])
    for s, y, rho in zip(S, Y, rhos, strict=True):
        r += (alphas.pop() - rho * mapreduce.dot(comm, y, r)) * s
    return r
    ### END SOLUTION


# %% check direction points=3
import numpy as np

from course.checks import call_on_ranks, is_close


def two_loops(g, S, Y, order=-1):
    """The direction on one process; order: -1 for the right one, 1 for loops in the other order."""
    q, alphas, pairs = g, {}, list(range(len(S)))
    for i in pairs[::order]:
        alphas[i] = S[i] @ q / (Y[i] @ S[i])
        q = q - alphas[i] * Y[i]
    r = q * (S[-1] @ Y[-1]) / (Y[-1] @ Y[-1]) if pairs else q
    for i in pairs[::-order]:
        r = r + (alphas[i] - Y[i] @ r / (Y[i] @ S[i])) * S[i]
    return r


def run_direction(N, g, S, Y):
    """The run on N ranks that have parts of the vectors, and the parts joined."""
    cuts = [np.array_split(each, N) for each in (g, *S, *Y)]
    m = len(S)
    lists = [[[cuts[1 + start + i][rank] for i in range(m)] for rank in range(N)] for start in (0, m)]
    run = call_on_ranks(direction, cuts[0], *lists, new=True)
    assert run[0] is not None, "direction returned None. End it with a `return` statement."
    return run, np.concatenate([np.asarray(each, dtype=float) for each in run])


S_now, Y_now = [np.array([1.0, 1.0])], [np.array([2.0, 4.0])]
run, got = run_direction(1, np.array([2.0, 4.0]), S_now, Y_now)
assert got.shape == (2,), f"r has the shape of g, (2,), but yours has {got.shape}."
assert got.tolist() != [-1, -1], "r has the wrong sign. It approximates H⁻¹ g; the step is -r."
assert is_close(got, [1, 1]), f"by hand, g = (2, 4) with s = (1, 1) and y = (2, 4) gives (1, 1), but yours is {got}."
run, got = run_direction(2, np.array([3.0, -1.0, 2.0]), [], [])
assert is_close(got, [3, -1, 2]), f"without any pair r is g, (3, -1, 2), but yours is {got}."
rng = np.random.default_rng(7)
A_now = np.diag([1.0, 2.0, 5.0, 9.0, 3.0]) + 0.5
S_now = list(rng.normal(size=(3, 5)))
Y_now, g_now = [A_now @ s for s in S_now], rng.normal(size=5)
run, got = run_direction(1, g_now, S_now, Y_now)
right = two_loops(g_now, S_now, Y_now)
assert not is_close(got, two_loops(g_now, S_now, Y_now, order=1)), (
    "the two loops run in the wrong order. The first begins with the newest pair, the second with the oldest."
)
assert not is_close(got, two_loops(g_now, S_now[-1:], Y_now[-1:])), "only the newest pair was used. Use all pairs."
assert is_close(got, right), f"three pairs, one rank: expected\n{right}\nyours\n{got}"
run, halves = run_direction(2, g_now, S_now, Y_now)
assert is_close(halves, right), (
    f"with three pairs one rank is right, but two ranks have\n{halves}\ninstead of\n{right}\nEvery inner product is that of "
    "the whole vectors: mapreduce.dot."
)
### BEGIN HIDDEN TESTS
for N_now, n_now, m_now in ((1, 4, 1), (2, 7, 2), (3, 200, 4), (8, 5, 3), (4, 200, 0)):
    factor = rng.normal(size=(n_now, n_now))
    A_now, S_now = factor @ factor.T / n_now + np.eye(n_now), list(rng.normal(size=(m_now, n_now)))
    Y_now, g_now = [A_now @ s for s in S_now], rng.normal(size=n_now)
    run, got = run_direction(N_now, g_now, S_now, Y_now)
    right = two_loops(g_now, S_now, Y_now)
    assert got.shape == right.shape and np.allclose(got, right, rtol=1e-7, atol=1e-9), (
        f"{N_now} ranks, {m_now} pairs of {n_now} numbers: not the direction of one process."
    )
    sent = int(np.max(run.trace.bytes_sent))
    assert sent <= 8 * (N_now - 1) * (8 * m_now + 4), (
        f"{N_now} ranks, {m_now} pairs: a rank sent {sent} bytes. Only inner products travel, 8 bytes to each other rank."
    )
### END HIDDEN TESTS

# %% [markdown]
# Now both methods minimize the same loss of softmax regression on 4,000 digits, which is convex. A **pass** is one look
# at all rows: one evaluation of L-BFGS, or one epoch of SGD with mini-batches of 32 rows.

# %% predict leader
# After 10 passes, which has the smaller loss?
#    a) SGD, clearly
#    b) L-BFGS, clearly
#    c) both about the same
#    d) L-BFGS has diverged

# %% measure
# Measurement (not graded): 60 passes of both, four ranks. About 15 s. Change GAMMA, the learning rate of SGD.
GAMMA, PASSES = 0.1, 60
X, y = mapreduce.digits()
shards = np.array_split(X, 4), np.array_split(y, 4)


def compare(sums, w, passes, gamma):
    """{name: (passes, losses)} of both methods, and the bytes that a rank of L-BFGS sends per pass."""
    run = spmd(
        mapreduce.sandblaster,
        *shards,
        w=w,
        sums=sums,
        direction=direction,
        passes=passes,
        carrier=Simulated(trace=False),
        timeout=200,
    )
    losses = mapreduce.sgd(X, y, w, sums, gamma, passes)
    return {"L-BFGS": run[0], "SGD": (range(1, passes + 1), losses)}, run.trace.bytes_sent[0] / passes


w = np.zeros(X.shape[1] * 10)
found, per_pass = compare(mapreduce.regression_sums, w, PASSES, GAMMA)
by_pass = np.array(
    [min(loss for end, loss in zip(*found["L-BFGS"], strict=True) if end <= k) for k in range(1, PASSES + 1)]
)
ahead = np.flatnonzero(by_pass < np.array(found["SGD"][1]))
print(f"after 10 passes: L-BFGS {by_pass[9]:.3f}, SGD {found['SGD'][1][9]:.3f}")
print(f"after {PASSES} passes: L-BFGS {by_pass[-1]:.4f}, SGD {found['SGD'][1][-1]:.4f}")
print(f"first pass after which L-BFGS is ahead: {ahead[0] + 1 if len(ahead) else 'none'}")
sgd_bytes = 2 * 3 / 4 * 8 * w.size * (len(y) // 32)  # an all-reduce of a gradient per iteration, lab 5
print(
    f"bytes per rank and pass: L-BFGS {per_pass:,.0f}, SGD {sgd_bytes:,.0f}: {sgd_bytes / per_pass:.0f} times as many"
)
ratio = by_pass[9] / found["SGD"][1][9]
outcome("leader", "a" if ratio > 1.1 else "b" if ratio < 0.9 else "c")
plots.curves(found, x="passes over the data", y="loss", title="Softmax regression: L-BFGS against SGD", log_y=True)

# %% [markdown]
# SGD makes 125 small steps in its first pass, and L-BFGS one. So SGD leads at first. Near the minimum its steps are too
# noisy, and L-BFGS overtakes it, with two orders of magnitude fewer bytes: it talks once per pass.
#
# The same for a network with a hidden layer of 64 units, whose loss is not convex:

# %% measure
# Measurement (not graded), your own: choose the learning rate and the number of passes. About 15 s with 20 passes.
MY_GAMMA, MY_PASSES = 0.3, 20
mine, _ = compare(mapreduce.network_sums, mapreduce.start_network(0), MY_PASSES, MY_GAMMA)
for name, (passes, losses) in mine.items():
    print(f"{name:6}: loss {losses[-1]:.4f} after {passes[-1]} passes")
plots.curves(mine, x="passes over the data", y="loss", title="A network: L-BFGS against SGD", log_y=True)

# %% [markdown]
# Try three learning rates before you decide which method is better: SGD depends on its learning rate, and L-BFGS has none.
#
# ## Step 8. Two questions
#
# **Question 1.** Fill in the table. Each cell needs a few words.
#
# | | MapReduce (Hadoop) | Spark | parameter server (lab 11) | all-reduce (labs 5, 6) |
# |---|---|---|---|---|
# | what is kept where between iterations? | | | | |
# | what is sent per iteration? | | | | |
# | who waits for whom? | | | | |
# | what happens when a worker dies? | | | | |

# %% [markdown] answer systems points=2
# ### BEGIN SOLUTION
# | | MapReduce | Spark | parameter server | all-reduce |
# |---|---|---|---|---|
# | kept | data and results in the distributed file system, nothing in memory | partitions in the workers' memory, the model with the driver | the model in parts on the servers, data with the workers | the whole model and a shard of the data on every rank |
# | sent | the model to all mappers, combined records in the shuffle, results to disk | the model by broadcast, one combined result per partition, by a shuffle or a tree | each worker pulls the model and pushes a gradient | 2 (N - 1)/N times the gradient per rank |
# | waits | reducers for the slowest mapper; backup tasks help | a stage for its slowest task | nobody, or a bounded number of steps | everybody for the slowest rank in every iteration |
# | dies | its tasks run again elsewhere from the input | lost partitions are computed again from their lineage | other workers go on; a server needs a replica | the run stops; restart from a checkpoint |
# ### END SOLUTION

# %% [markdown]
# **Question 2.** Read the table of lab 2 again: Bottou and Bousquet split the error into approximation, estimation and
# optimization. Your curves show the optimization error of two methods against passes. When is SGD the better choice,
# and when L-BFGS? Say what a *small-scale* and a *large-scale* problem would choose, and what the price of a byte
# changes. Use numbers that you measured. (4 to 6 sentences.)

# %% [markdown] answer bottou points=2
# ### BEGIN SOLUTION
# On softmax regression SGD led for about 25 passes; after 10 passes its loss was 0.29 against 0.41. After 60 passes
# L-BFGS had 0.2336 and SGD 0.238. On a large-scale problem time is the limit: there are more examples than I can look at
# 25 times, so I stay left of the crossing and SGD is better; a small optimization error would be useless, since the
# estimation error is larger. On a small-scale problem the examples are few, many passes are cheap, and L-BFGS reaches an
# optimization error that SGD with a constant learning rate does not reach. L-BFGS sent 95 kB per pass and SGD 11.8 MB:
# where the network is the bottleneck a pass of L-BFGS is cheaper and the crossing moves to the left in seconds. On the
# network of step 7 a well chosen learning rate kept SGD ahead in all my passes.
# ### END SOLUTION

# %% [markdown]
# ## Further: A. A mapper that dies
#
# *Extra credit.* If a machine fails once a year, then of a thousand machines one fails every 9 hours. MapReduce's answer
# is simple, because a mapper keeps nothing between its portions: **run its portions again, elsewhere**. Each result counts once, whichever worker computed it, so the
# answer is the same as without the failure.
#
# `attempt(assignment)` runs portions: `assignment` is a dict from a worker to the list of its portions. It returns
# `(results, dead)`: a dict from the portions that were done to their results, and the set of workers that died. Write
# the loop: hand out all portions that have no result yet, in ascending order and in turn (the first to the first worker,
# the second to the next one, and so on), to the workers that still live, in ascending order. Repeat until each portion has
# a result. A worker may get an empty list. Raise `RuntimeError` if portions are left and no worker lives.


# %% task run-again
def run_again(attempt, portions, workers):
    """{portion: result} of all portions.

    attempt(assignment): as above. portions: a list of numbers. workers: a list of numbers.
    """
    # about 9 lines
    ### BEGIN SOLUTION
    results, alive = {}, sorted(workers)
    while left := sorted(set(portions) - set(results)):
        if not alive:
            raise RuntimeError("portions are left, and all workers are dead")
        done, dead = attempt({worker: left[i :: len(alive)] for i, worker in enumerate(alive)})
        results.update(done)
        alive = [worker for worker in alive if worker not in dead]
    return results
    ### END SOLUTION


# %% check run-again extra=2
from course.checks import call


def play(portions, workers, deaths):
    """What run_again returns if the workers die as in deaths, {worker: how many portions it does before}."""
    asked = []

    def attempt_here(assignment):
        assert len(asked) < 20, (
            "20 attempts, and no end: hand out only portions without a result, to workers that live."
        )
        asked.append({int(worker): [int(each) for each in mine] for worker, mine in assignment.items()})
        done, dead = {}, set()
        for worker, mine in asked[-1].items():
            assert worker not in gone, f"worker {worker} is dead and got portions again: {asked[-1]}."
            if worker in deaths and len(mine) > deaths[worker]:
                dead.add(worker)
                mine = mine[: deaths[worker]]
            done |= {portion: 10 * portion for portion in mine}
        gone.update(dead)
        return done, dead

    gone = set()
    return call(run_again, attempt_here, portions, workers), asked


got, asked = play([0, 1, 2, 3, 4], [0, 1, 2], {1: 1})
assert got is not None, "run_again returned None. End it with a `return` statement."
assert asked[0] == {0: [0, 3], 1: [1, 4], 2: [2]}, (
    f"the portions 0 to 4 are handed out in turn to the workers 0, 1, 2: {{0: [0, 3], 1: [1, 4], 2: [2]}}, but yours "
    f"is {asked[0]}."
)
assert len(asked) > 1, "worker 1 died before it did portion 4. Portions without a result are handed out again."
assert [each for mine in asked[1].values() for each in mine] == [4], (
    f"after the first attempt only portion 4 has no result, but yours handed out {asked[1]} again."
)
assert 1 not in asked[1], "worker 1 is dead. Hand out portions to the workers that still live."
assert dict(got) == {portion: 10 * portion for portion in range(5)}, (
    f"each portion has its result, from either attempt, but yours are {got}."
)
### BEGIN HIDDEN TESTS
for portions_now, workers_now, deaths in (
    ([], [0], {}),
    ([3], [5, 2], {}),
    ([7, 1, 5, 2, 9, 4], [3, 0, 8], {0: 0, 8: 1}),
    (list(range(10)), [0, 1, 2, 3], {0: 1, 1: 2, 2: 0}),
    (list(range(12)), [0, 1, 2, 3], {1: 0}),
):
    got, asked = play(portions_now, workers_now, deaths)
    assert dict(got) == {portion: 10 * portion for portion in portions_now}, f"{portions_now}: a result is missing."
    left, alive = sorted(portions_now), sorted(workers_now)
    for assignment in asked:
        fair = {worker: left[i :: len(alive)] for i, worker in enumerate(alive)}
        full = {worker: assignment.get(worker, []) for worker in alive} if set(assignment) <= set(alive) else assignment
        assert full == fair, (
            f"workers that live: {alive}, portions left: {left}: expected {fair}, yours is {assignment}."
        )
        died = {worker for worker in alive if worker in deaths and len(fair[worker]) > deaths[worker]}
        done = {each for worker in alive for each in fair[worker][: deaths[worker] if worker in died else None]}
        left, alive = [each for each in left if each not in done], [worker for worker in alive if worker not in died]
    assert not left, f"{portions_now}: the portions {left} were never done."
try:
    play([0, 1, 2, 3], [0, 1], {0: 0, 1: 0})
    stopped = False
except AssertionError:
    raise
except Exception as problem:
    assert "RuntimeError" in f"{type(problem).__name__} {problem}", (
        f"raise RuntimeError if no worker lives; {problem!r}."
    )
    stopped = True
assert stopped, "all workers are dead and portions are left: raise RuntimeError."
### END HIDDEN TESTS

# %% measure
# Demonstration (not graded): the word count in 12 portions on 4 simulated ranks, two of which die. Change the faults.
import tempfile
from pathlib import Path

portions = dict(enumerate(np.array_split(np.array([word_key(word) for word in words]), 12)))
faults, log = [Die(1, step=1), Die(3, step=0)], []


def count_with_faults(faults):
    """{key: how often} of all portions; prints each attempt."""
    with tempfile.TemporaryDirectory() as folder:

        def attempt(assignment):
            results, dead = mapreduce.attempt(portions, assignment, Path(folder), faults)
            print(f"handed out {assignment}; done {sorted(results)}; died: {sorted(dead)}")
            return results, dead

        results = run_again(attempt, list(portions), range(4))
    keys, counts = np.concatenate([results[each] for each in sorted(results)]).T
    return reduce_by_key(keys, counts[:, None].astype(float), add)


with_faults, without = count_with_faults(faults), count_with_faults([])
same = all(np.array_equal(one, other) for one, other in zip(with_faults, without, strict=True))
print("the same counts as without failures" if same else "OTHER counts than without failures")

# %% [markdown]
# Each rank wrote the result of a portion to a file as soon as it was done. So the death of a rank costs only the
# portions that it had not done. In an all-reduce (lab 6) one death ends the step for everybody.
#
# ## Further: B. Slow workers, portions and backup tasks
#
# *Extra credit.* A MapReduce ends when its last mapper ends. Worker $i$ has the speed $v_i$: a portion that takes
# $t$ seconds at speed 1 takes it $t / v_i$ seconds. In all there are $W$ seconds of work, in $M$ equal portions. No schedule can
# end before $W / \sum_i v_i$.
#
# **Portions handed out:** whoever is free gets the next portion. If several are free at the same time, the one with the
# smallest number gets it. **Backup tasks** (Dean and Ghemawat 2004): when no portion is left, a worker that becomes free
# starts another copy of the portion that would end last. The copy that ends first counts. Each worker runs at most one
# backup task. It makes no difference in which order the workers choose, or which of two portions with the same end is
# copied.
#
# By hand: speeds 1 and 1/4, $W = 8$, $M = 4$, so a portion takes 2 or 8 seconds. Worker 0 computes portions 0, 2, 3 and
# is free at 6; worker 1 has portion 1 until 8. With a backup task worker 0 computes portion 1 again from 6 to 8: it ends
# at 8, too. With $M = 2$: worker 0 is free at 4, worker 1 at 16; the backup task of portion 1 ends at 8.


# %% task stragglers
def hand_out(speeds, M, W):
    """(ends, free): when each portion ends, in the order in which they are handed out, and when each worker is free.

    Two lists of numbers, M and len(speeds) long. Without backup tasks.
    """
    # about 6 lines
    ### BEGIN SOLUTION
    ends, free = [], [0.0] * len(speeds)
    for _ in range(M):
        worker = int(np.argmin(free))
        free[worker] += W / M / speeds[worker]
        ends.append(free[worker])
    return ends, free
    ### END SOLUTION


def with_backup(speeds, M, W):
    """When the last portion ends if free workers run backup tasks: a number."""
    # about 5 lines
    ### BEGIN SOLUTION
    ends, free = hand_out(speeds, M, W)
    for start, speed in zip(free, speeds, strict=True):
        last = int(np.argmax(ends))
        ends[last] = min(ends[last], start + W / M / speed)
    return max(ends)
    ### END SOLUTION


# %% check stragglers extra=3
import numpy as np

from course.checks import call, is_close

got = call(hand_out, [1.0, 0.25], 4, 8.0)
assert got is not None, "hand_out returned None. End it with a `return` statement."
assert len(got) == 2, f"hand_out returns two lists, ends and free. Yours returns {len(got)} things."
ends_now, free_now = np.asarray(got[0], dtype=float), np.asarray(got[1], dtype=float)
assert ends_now.tolist() != [2, 8, 4, 16], (
    "the portions go in turn. Give the next one to the worker that is free first."
)
assert ends_now.tolist() != [2, 4, 6, 8], (
    "at 0 both workers are free, so worker 1 gets portion 1, although it is slow. It is the second that is handed out."
)
assert ends_now.tolist() != [8, 2, 4, 6], (
    "at 0 both workers are free: then the one with the smallest number comes first."
)
assert ends_now.tolist() == [2, 8, 4, 6], f"by hand the portions end at 2, 8, 4, 6, but yours end at {ends_now}."
assert free_now.tolist() == [6, 8], f"by hand the workers are free at 6 and 8, but yours at {free_now}."
got = call(with_backup, [1.0, 0.25], 2, 8.0)
assert got is not None, "with_backup returned None. End it with a `return` statement."
assert float(got) != 16, "16 is the end without backup tasks. Worker 0 is free at 4, and repeats portion 1 until 8."
assert float(got) != 32, "32 is when the copy ends that worker 1 started. The copy that ends first counts."
assert float(got) == 8, f"by hand, M = 2 ends at 8 with backup tasks, but yours at {got}."
assert float(call(with_backup, [1.0, 0.25], 4, 8.0)) == 8, "by hand, M = 4 ends at 8 with backup tasks, too."
got = float(call(with_backup, [1.0, 1.0, 1.0, 0.25], 8, 64.0))
assert got == 24, f"speeds 1, 1, 1, 1/4, W = 64, M = 8: it ends at 24 with backup tasks, but yours at {got}."
### BEGIN HIDDEN TESTS
got = float(call(with_backup, [0.25, 0.25, 0.5, 0.5], 2, 24.0))
assert got == 24, (
    f"two slow workers have the only portions, two faster ones copy one each: it ends at 24, yours at {got}."
)
rng = np.random.default_rng(8)
for size_now, M_now in ((1, 3), (3, 1), (4, 4), (4, 16), (5, 33), (3, 0)):
    for speeds_now in (rng.choice([0.25, 0.5, 1.0, 2.0], size_now).tolist(), rng.uniform(0.2, 3, size_now).tolist()):
        at, ends_right = [0.0] * size_now, []
        for _ in range(M_now):
            who = at.index(min(at))
            at[who] += 60.0 / M_now / speeds_now[who]
            ends_right.append(at[who])
        got = call(hand_out, speeds_now, M_now, 60.0)
        label = f"speeds {np.round(speeds_now, 2)}, M = {M_now}"
        assert is_close(got[0], ends_right), f"{label}: the portions end at {ends_right}, but yours at {got[0]}."
        assert is_close(got[1], at), f"{label}: the workers are free at {at}, but yours at {got[1]}."
        if M_now == 0:
            continue
        for who in sorted(range(size_now), key=lambda each: (at[each], each)):
            last_now = ends_right.index(max(ends_right))
            ends_right[last_now] = min(ends_right[last_now], at[who] + 60.0 / M_now / speeds_now[who])
        got = float(call(with_backup, speeds_now, M_now, 60.0))
        assert is_close(got, max(ends_right)), (
            f"{label}: with backup tasks it ends at {max(ends_right)}, yours at {got}."
        )
### END HIDDEN TESTS

# %% measure
# Measurement (not graded): your predictions beside a coordinator and four workers on simulated ranks (lab 11's loop).
speeds, W, Ms = [1.0, 1.0, 1.0, 0.25], 64.0, [4, 8, 16, 32, 64, 128]
free = Simulated(alpha=0.0, beta=1e18)
measured = [
    spmd(mapreduce.hand_out, ranks=5, speeds=speeds, portions=M, work=W, carrier=free).trace.seconds for M in Ms
]
predicted, backup = [max(hand_out(speeds, M, W)[0]) for M in Ms], [with_backup(speeds, M, W) for M in Ms]
for row in zip(Ms, predicted, measured, backup, strict=True):
    print("{:3} portions: predicted {:5.2f} s, measured {:5.2f} s, with backup tasks {:5.2f} s".format(*row))
print(f"bound: {W / sum(speeds):.2f} s")
plots.curves(
    {"handed out": (Ms, predicted), "with backup tasks": (Ms, backup), "bound": (Ms, [W / sum(speeds)] * len(Ms))},
    x="number of portions",
    y="seconds until the last portion ends",
    title="One worker is four times slower",
    log_x=True,
)

# %% [markdown]
# Small portions and backup tasks help against the same thing. More portions are not always better: with 32 of them, the
# slow worker takes its third portion at 16 s, shortly before the others run out, and needs 8 s for it. Sandblaster hands out such small portions of a batch to
# whoever is free. Very small ones cost a message each: set `alpha=0.05` in the cell above and look for the best number.
#
# ## Further: C. Online learning and its regret
#
# *Extra credit.* In **online learning** there is no data set. In round $t$ you choose $w_t$, then see an example, and
# pay $f_t(w_t)$. Whoever sends the examples may be your enemy. The **regret** after $T$ rounds is what you paid more than the
# best fixed $w$, known only afterwards:
#
# $$ R_T = \sum_{t=1}^T f_t(w_t) - \min_{\|w\| \le D/2} \sum_{t=1}^T f_t(w) . $$
#
# Martin Zinkevich (*Online Convex Programming and Generalized Infinitesimal Gradient Ascent*, ICML 2003) showed that
# gradient descent copes: with $\gamma_t = D / (G \sqrt t)$ and a projection to the ball $\|w\| \le D/2$ after each step,
# $R_T \le \tfrac32 D \, G \sqrt T$ for **every** sequence of convex losses whose gradients are at most $G$ long. (In this
# form: Elad Hazan, *Introduction to Online Convex Optimization*, 2016, theorem 3.1.) So the regret per round goes to 0.
#
# Write it for $f_t(w) = |x_t^T w - y_t|$, whose gradient is $x_t$ if $x_t^T w > y_t$, $-x_t$ if $x_t^T w < y_t$, and 0 if
# both are equal. Start at $w_1 = 0$. A $w$ outside the ball is projected to $\frac{D}{2} \frac{w}{\|w\|}$.
#
# By hand: $D = 2$, $G = 1$, $x = 1$ and $y = 3$ in every round. $w_1 = 0$; $w_2 = 0 + 2 = 2$, which is projected to 1;
# $w_3 = 1$ again.


# %% task online
def play_online(X, y, D, G):
    """The w_t of all rounds, shape (T, d): w_t is chosen before the example t is seen.

    X: shape (T, d). y: shape (T,). D: the diameter of the ball. G: the bound of the gradients.
    """
    # about 9 lines
    ### BEGIN SOLUTION
    w, played = np.zeros(X.shape[1]), []
    for t, (x, target) in enumerate(zip(X, y, strict=True), 1):
        played.append(w)
        w = w - D / (G * np.sqrt(t)) * np.sign(x @ w - target) * x
        length = np.sqrt(w @ w)
        if length > D / 2:
            w = w * (D / 2 / length)
    return np.array(played).reshape(X.shape)
    ### END SOLUTION


# %% check online extra=2
import numpy as np

from course.checks import call, is_close


def play_right(X, y, D, G):
    """The right w_t."""
    w, path = np.zeros(X.shape[1]), []
    for t in range(len(X)):
        path.append(w)
        w = w - D / G / np.sqrt(t + 1) * X[t] * np.sign(X[t] @ w - y[t])
        w = w * min(1, D / 2 / max(np.linalg.norm(w), 1e-300))
    return np.array(path).reshape(X.shape)


got = call(play_online, np.ones((3, 1)), np.full(3, 3.0), 2.0, 1.0)
assert got is not None, "play_online returned None. End it with a `return` statement."
got = np.asarray(got, dtype=float)
assert got.shape == (3, 1), f"three rounds in one dimension have the shape (3, 1); yours has {got.shape}."
assert got[0, 0] == 0, f"w_1 = 0: it is chosen before the first example is seen. Yours is {got[0, 0]}."
assert got[1, 0] != 2, "w_2 = 2 lies outside the ball, whose radius is D/2 = 1. Project it."
assert got[1, 0] != -1, "the step goes uphill: step against the gradient."
assert got.ravel().tolist() == [0, 1, 1], f"by hand w is 0, 1, 1, but yours is {got.ravel()}."
X_now, y_now = np.ones((4, 1)), np.array([0.1, -0.9, 0.2, 0.0])
got, right = np.asarray(call(play_online, X_now, y_now, 20.0, 40.0), dtype=float), play_right(X_now, y_now, 20.0, 40.0)
constant = [0, 0.5, 0.0, 0.5]
assert not is_close(got.ravel(), constant), "every step has the same length. It is divided by the root of t."
assert is_close(got, right), f"expected w = {right.ravel().round(4)}, but yours is {got.ravel().round(4)}."
### BEGIN HIDDEN TESTS
rng = np.random.default_rng(9)
for T_now, d_now, D_now, G_now in ((1, 2, 1.0, 1.0), (50, 3, 2.0, 1.5), (40, 1, 0.5, 3.0), (0, 2, 1.0, 1.0)):
    X_now, y_now = rng.normal(size=(T_now, d_now)), rng.normal(size=T_now)
    X_now[:1, :1], y_now[:1] = 0, 0  # w_1 = 0 hits this one, and the gradient is 0
    got, right = call(play_online, X_now, y_now, D_now, G_now), play_right(X_now, y_now, D_now, G_now)
    assert is_close(got, right), f"T = {T_now}, d = {d_now}, D = {D_now}, G = {G_now}: other w than expected."
### END HIDDEN TESTS

# %% measure
# Measurement (not graded): regret per round against two opponents, and the bound. Invent a third opponent.
T, D, G = 4096, 2.0, 1.0
rng = np.random.default_rng(0)
streams = {
    "random y": (np.ones((T, 1)), rng.choice([-1.0, 1.0], T)),
    "y changes sides in blocks": (np.ones((T, 1)), np.where((np.arange(T) // 256) % 2 == 0, 1.0, -1.0)),
}
rounds, lines = 2 ** np.arange(4, 13), {}
for name, (X_all, y_all) in streams.items():
    paid = np.abs((X_all * play_online(X_all, y_all, D, G)).sum(axis=1) - y_all)
    best = [min(np.abs(w - y_all[:t]).sum() for w in np.linspace(-1, 1, 201)) for t in rounds]
    regret = np.array([paid[:t].sum() for t in rounds]) - best
    lines[name] = (rounds, regret / rounds)
    print(f"{name:26}: regret {regret[-1]:7.1f} after {T} rounds; the bound is {1.5 * D * G * np.sqrt(T):.1f}")
plots.curves(
    lines | {"bound": (rounds, 1.5 * D * G / np.sqrt(rounds))},
    x="rounds T",
    y="regret per round",
    title="Online gradient descent against two opponents",
    log_x=True,
)

# %% [markdown]
# A negative regret is possible: you changed your $w$, and the best fixed one could not. The SGD of labs 2 to 13 is this
# method with examples that are drawn at random from a fixed set, without the projection.
#
# ## Further: D. Spark, for real (to run)
#
# Apache Spark keeps a data set as an **RDD**, a resilient distributed dataset: a list of **partitions**, each with the
# operations that make it. A **transformation**, such as `map`, only adds an operation to this list, the **lineage**. An
# **action**, such as `collect`, runs everything that it needs. A driver, here this notebook, hands the partitions to
# **executors** (Zaharia and others, *Resilient Distributed Datasets*, NSDI 2012).
#
# Spark needs 500 MB and Java, so it is not part of the course's environment. `make lab SPARK=yes` installs it. Without
# it, each cell of this step says so in one line. With it, the step takes about two minutes of computing.

# %% measure
# Demonstration (not graded): Spark on this machine, with two threads. It ends with this notebook.
from course import spark

if spark.is_usable():
    sc = spark.start("local[2]")
    print(f"Spark {sc.version} runs. Open {sc.uiWebUrl} in a browser on this machine to see its jobs.")

# %% [markdown]
# Your mappers and reducers know nothing of ranks, so Spark can run them. `spark.map_reduce(rdd, mapper, reducer,
# combiner, model)` has four steps:
#
# 1. `sc.broadcast(model)` sends the model to each executor once;
# 2. `rdd.mapPartitions` runs your mapper on each shard;
# 3. with a combiner, `reduceByKey` combines the records of each partition and shuffles; without one, `groupByKey`
#    shuffles all records;
# 4. `mapValues` runs your reducer on each key, and `collect` brings the result to the driver.
#
# Spark counts the bytes of its shuffles. They are pickled Python objects, compressed, so no formula gives their number.
# Does the combiner save as much as in step 5?

# %% predict spark-saving
# k-means on 4,000 digits again, now in Spark. How many times fewer bytes are shuffled with the combiner? Write a number.

# %% measure
# Measurement (not graded): four of your algorithms, one iteration each, on ranks and in Spark.
if spark.is_usable():
    sc = spark.start("local[2]")
    X, y = mapreduce.visits()
    rows_of_X = list(zip(np.array_split(X, 4), np.array_split(y, 4), strict=True))
    links, pages = mapreduce.web(2000, seed=0), np.arange(2000)
    parts_of_web = [(part, links[np.isin(links[:, 0], part)]) for part in np.array_split(pages, 4)]
    digits = mapreduce.digits()[0][:, :-1]
    programs = {
        "least squares": (rows_of_X, least_squares, add, None),
        "Newton": (rows_of_X, newton, add, np.zeros(X.shape[1])),
        "PageRank": (parts_of_web, follow, add, np.full(2000, 1 / 2000)),
        "k-means": (np.array_split(digits, 4), nearest, add, digits[:10]),
        "k-means, no combiner": (np.array_split(digits, 4), nearest, None, digits[:10]),
    }
    shuffled = {}
    print(f"{'':20}   bytes on ranks   bytes in Spark   largest difference")
    for name, (its_shards, mapper, combiner, model) in programs.items():
        options = {"mapper": mapper, "reducer": add, "combiner": combiner, "model": model}
        run = spmd(map_reduce, its_shards, carrier="simulated", timeout=60, **options)
        with spark.counting(sc) as read_counts:
            keys, rows = spark.map_reduce(sc.parallelize(its_shards, 4), **options)
            shuffled[name] = read_counts()["bytes"]
        own_keys, own_rows = mapreduce.collect(run)
        assert np.array_equal(keys, own_keys), "Spark has other keys than your map_reduce."
        print(f"{name:20} {run.trace.bytes_sent.sum():16,} {shuffled[name]:16,} {np.abs(rows - own_rows).max():20.1g}")
    outcome("spark-saving", shuffled["k-means, no combiner"] / shuffled["k-means"])

# %% [markdown]
# Two things make Spark's numbers differ from yours. Spark writes **all** records of a shuffle to local files and counts
# them; your count leaves out records whose home is their own rank. And Spark compresses: this helps most where many
# numbers are equal, as in the pixels of digits.
#
# An error in a mapper happens in another process, below a hundred lines of Java. The notebook shows one sentence of it.

# %% measure
# Demonstration (not graded): what you see when a mapper fails. Make other mistakes in it.
if spark.is_usable():

    def broken_mapper(part):
        smallest = part.min()
        return 1 / int(smallest - 25)

    try:
        spark.start("local[2]").parallelize(np.array_split(np.arange(100), 4), 4).map(broken_mapper).collect()
    except Exception as error:
        print(spark.describe(error))

# %% [markdown]
# (On a cluster, Spark tries such a task four times before it gives up, since the reason might be the machine.)
#
# ### Descent: lazy, cached, as a tree
#
# Gradient descent reads the data once per step. An RDD is computed anew for each action, unless it is **cached**. How
# often are the eight files below read in ten steps? An **accumulator** counts: workers add to it, and only the driver
# reads it. The gradients are added by `treeAggregate`: with at least six partitions, groups of them are added by the
# executors first, so that the driver gets fewer arrays. With fewer partitions Spark makes no tree.

# %% predict passes
# Eight files, ten steps of gradient descent, no cache. How many files are read in all? Write a number.

# %% measure
# Measurement (not graded): ten steps of gradient descent for logistic regression, without and with a cache.
import tempfile
import time
from pathlib import Path

if spark.is_usable():
    from pyspark.cloudpickle import dumps

    sc, (X, y) = spark.start("local[2]"), mapreduce.visits()

    def gradient_of(shard, w):
        return shard[0].T @ (1 / (1 + np.exp(-shard[0] @ w)) - shard[1])

    def descend(files, is_cached, steps=10):
        """(w, files read, seconds per step, stages) of gradient descent on the files."""
        read = sc.accumulator(0)

        def load(path):
            read.add(1)
            table = np.load(path)
            return table[:, :-1], table[:, -1]

        shards = sc.parallelize(files, len(files)).map(load)
        shards = shards.cache() if is_cached else shards
        w, seconds = np.zeros(X.shape[1]), []
        with spark.counting(sc) as read_counts:
            for _ in range(steps):
                begin, sent = time.perf_counter(), sc.broadcast(w)
                g = shards.treeAggregate(
                    np.zeros(len(w)),
                    lambda total, shard, sent=sent: total + gradient_of(shard, sent.value),
                    lambda one, other: one + other,
                )
                w = w - 0.5 * g / len(X)
                seconds.append(time.perf_counter() - begin)
            return w, read.value, np.median(seconds), read_counts()["stages"]

    w = np.zeros(X.shape[1])
    for _ in range(10):
        w = w - 0.5 * gradient_of((X, y), w) / len(X)
    for parts, is_cached in ((8, False), (8, True), (4, True)):
        with tempfile.TemporaryDirectory() as folder:
            files = [f"{folder}/{i}.npy" for i in range(parts)]
            for path, table in zip(files, np.array_split(np.column_stack([X, y]), parts), strict=True):
                np.save(path, table)
            own, read, seconds, stages = descend(files, is_cached)
        print(
            f"{parts} files, {'cached    ' if is_cached else 'not cached'}: {read:3} files read, {stages} stages, median "
            f"{1000 * seconds:4.0f} ms per step, largest difference to NumPy {np.abs(own - w).max():.1g}"
        )
        if not is_cached:
            outcome("passes", read)
    centres, broadcast = mapreduce.digits()[0][:10], sc.broadcast(mapreduce.digits()[0][:10])
    print(f"a task that carries 10 centres: {len(dumps(lambda shard: nearest(shard, centres))):,} bytes;", end=" ")
    print(f"with a broadcast: {len(dumps(lambda shard: nearest(shard, broadcast.value))):,} bytes")

# %% [markdown]
# The files are small, so the seconds may hardly differ. A stage ends where a shuffle begins: a step with a tree has two
# of them. The last line is about the **broadcast**. A function takes along what it uses, once per task. A broadcast
# variable goes to each executor once, and the task carries its number only.
#
# ### SparkNet
#
# SparkNet trains networks by rounds in which each worker takes τ steps alone, and then the weights are averaged (lab
# 10). In Spark a round is one `mapPartitions` and one `reduce`.

# %% measure
# Measurement (not graded): SparkNet's loop on 4 partitions of digits, with networks of lab 10. Change τ.
from course import networks

accuracies_of = {}
if spark.is_usable():
    sc, (X, y, X_held, y_held) = spark.start("local[2]"), networks.digits()
    parts = list(zip(np.array_split(X, 4), np.array_split(y, 4), strict=True))

    def train_alone(number, shard, w, tau, at):
        """The weights after tau steps of SGD on mini-batches of 8 digits of this shard; at: the number of the round."""
        rng, w = np.random.default_rng([number, at]), w.copy()
        for _ in range(tau):
            chosen = rng.integers(len(shard[1]), size=8)
            w -= np.float32(0.1) * networks.gradient(w, shard[0][chosen], shard[1][chosen])
        return w

    def sparknet(tau, rounds=6):
        """(w, accuracies in percent on the held-out digits after each round)."""
        shards, w, accuracies = sc.parallelize(list(enumerate(parts)), 4).cache(), networks.start(0), []
        for at in range(rounds):
            sent = sc.broadcast(w)
            trained = shards.map(lambda numbered, at=at, sent=sent: train_alone(*numbered, sent.value, tau, at))
            w = trained.reduce(lambda one, other: one + other) / np.float32(4)
            accuracies.append(100 - float(networks.errors(w, X_held, y_held)))
        return w, accuracies

    accuracies_of = {f"τ = {tau}": sparknet(tau)[1] for tau in (5, 20, 80)}
    w = networks.start(0)
    for at in range(6):
        w = np.mean([train_alone(i, part, w, 20, at) for i, part in enumerate(parts)], axis=0)
    print(
        f"τ = 20, all in this notebook: {100 - float(networks.errors(w, X_held, y_held)):.1f}% after 6 rounds;", end=" "
    )
    print(f"in Spark: {accuracies_of['τ = 20'][-1]:.1f}%")
plots.curves(
    {name: (range(1, 7), accuracies) for name, accuracies in accuracies_of.items()},
    x="round",
    y="held-out accuracy (%)",
    title="SparkNet's loop: accuracy after each round",
) if accuracies_of else None

# %% [markdown]
# A round with τ = 80 has 16 times the steps of a round with τ = 5, and sends as many bytes.
#
# ### MLlib
#
# Spark's own library has the algorithms of this lab. Its `LogisticRegression` runs L-BFGS on the driver and gets each
# gradient by `treeAggregate`: step 7 and the descent above in one.

# %% measure
# Measurement (not graded): MLlib's logistic regression beside your Newton steps, on the RAND data.
if spark.is_usable():
    from pyspark.ml.classification import LogisticRegression as SparkRegression
    from pyspark.ml.linalg import Vectors
    from pyspark.sql import SparkSession

    sc, (X, y) = spark.start("local[2]"), mapreduce.visits()
    rdd = sc.parallelize(list(zip(np.array_split(X, 4), np.array_split(y, 4), strict=True)), 4).cache()
    w = np.zeros(X.shape[1])
    for _ in range(6):
        w = w - mapreduce.solve(*spark.map_reduce(rdd, newton, add, add, w))
    table = rdd.flatMap(
        lambda shard: [(float(label), Vectors.dense(row[:-1])) for row, label in zip(*shard, strict=True)]
    )
    table = SparkSession(sc).createDataFrame(table, ["label", "features"]).cache()
    fitted = SparkRegression(standardization=False, tol=1e-10).fit(table)  # its own intercept, for the column of ones
    its_w = np.append(fitted.coefficients.toArray(), fitted.intercept)
    print(f"your Newton: 6 iterations; MLlib's L-BFGS: {fitted.summary.totalIterations} iterations")
    print(f"largest difference of the weights: {np.abs(its_w - w).max():.1g}")

# %% [markdown]
# ### An executor dies
#
# With the master `local-cluster[2,1,1024]` two executors run as processes of their own, with one core and 1024 MB each.
# The cell below caches eight partitions, counts how many are computed, and kills one executor.

# %% predict lost
# Eight cached partitions on two executors. One executor is killed. What does the next action on this RDD do?
# a) It fails, because partitions are lost.
# b) It computes all eight partitions again.
# c) It computes again only the partitions that the dead executor kept.
# d) It returns a result without the lost partitions.

# %% measure
# Measurement (not graded): an executor is killed, and its partitions come back.
if spark.is_usable():
    sc = spark.start("local-cluster[2,1,1024]")
    computed = sc.accumulator(0)

    def load_part(part):
        computed.add(1)
        time.sleep(0.2)  # as if it were read from a disk
        return part

    sc.parallelize(range(2), 2).map(lambda _: time.sleep(1)).count()  # now both executors have started Python
    parts = sc.parallelize(np.array_split(np.arange(1, 801), 8), 8).map(load_part).cache()
    total = parts.map(np.sum).sum()
    first = computed.value
    again = parts.map(np.sum).sum()
    print(f"first action: {total}, {first} partitions computed; second: {again}, {computed.value - first} computed")
    before, kept = computed.value, spark.kill_executor(sc)
    after = parts.map(np.sum).sum()
    lost = computed.value - before
    print(f"an executor with {kept} partitions killed; third action: {after}, {lost} computed again")
    outcome("lost", "c" if lost == kept else "b" if lost == 8 else "d")

# %% [markdown]
# The partitions of the dead executor are computed again from their lineage, on the executor that is left or on a new one
# that Spark starts. This is step A's idea: a task without side effects may run again anywhere.
#
# On a real cluster, a **master** and one **worker** per machine run all the time, and give executors to programs that
# ask for them. The next cell starts such a cluster on this machine.

# %% measure
# Demonstration (not graded): a standalone master and two workers, each a process of its own, and your k-means on them.
if spark.is_usable():
    sc, digits = spark.start(spark.start_daemons(workers=2)), mapreduce.digits()[0][:, :-1]
    shards, centres = np.array_split(digits, 4), digits[:10]
    rdd = sc.parallelize(shards, 4).cache()
    for _ in range(3):
        centres = move_centres(*spark.map_reduce(rdd, nearest, add, add, centres), centres)
    own = digits[:10]
    for _ in range(3):
        own = move_centres(*reduce_by_key(*nearest(digits, own), add), own)
    print(f"{sc.master} has {len(spark.list_executors())} executors.")
    print(f"largest difference of the centres to one process after 3 steps: {np.abs(centres - own).max():.1g}")

# %% [markdown]
# ## Further: E. More data than memory (to run)
#
# A shard must fit into a worker's memory, but the data need not. In this experiment the files have 288 MB together, and
# each process may take 150 MB more than it has when it is ready. (The limit is set for the purpose, so that you need no
# larger data. macOS does not enforce such limits: there the plain way finishes, too.) Dask, which is written in Python
# and starts in seconds, runs your mapper file by file on two worker processes. `fold` adds the results in a tree.

# %% predict peak
# 12 files of 24 MB, 2 worker processes. How many MB does a worker take at most at one time, for data and results? Write a number.

# %% measure
# Measurement (not graded): least squares on 288 MB with a limit of 150 MB, by Dask, by the plain way, and by Spark.
import dask.bag

from course import memory


def limited_least_squares(path):
    """Your mapper on one file, in a process whose memory is limited."""
    memory.limit(150)
    return least_squares(memory.read_part(path), None)


def add_sums(one, other):
    """The sum of two results of the mapper; their keys are the same."""
    return one[0], one[1] + other[1]


with tempfile.TemporaryDirectory() as folder:
    files = memory.write_parts(folder, parts=12, megabytes=24)
    with memory.dask_workers(2) as client:
        client.run(memory.watch)
        bag = dask.bag.from_sequence(files, npartitions=len(files))
        solution = mapreduce.solve(*bag.map(limited_least_squares).fold(add_sums).compute())
        peak = max(client.run(memory.read_peak).values())
        print(f"Dask: w = {np.round(solution, 2)}; a worker took {peak:.0f} MB at most")
        outcome("peak", peak)
        client.run(memory.limit, 150)
        try:
            client.submit(memory.read_all, files).result()
            print("the plain way finished: this system does not enforce the limit")
        except MemoryError as error:
            print(f"the plain way, all files at once in one such process: MemoryError: {error}")
    if spark.is_usable():
        sums = spark.start().parallelize(files, len(files)).map(limited_least_squares).reduce(add_sums)
        same = np.allclose(mapreduce.solve(*sums), solution, rtol=1e-12)
        print(f"Spark: {'the same' if same else 'another'} w")
        spark.stop()

# %% [markdown]
# The mapper's result has $10 \cdot 11$ numbers, however many rows a file has. So more files take more time, but
# no more memory. A program whose records are as many as the rows, such as a sort, needs more: then Dask
# and Spark write to disk what does not fit (they **spill**), and their time is that of the disk.
#
# ## Further: F. The ecosystem today, and real GPUs (to read)
#
# | system | paper | what it changed |
# |---|---|---|
# | Hadoop MapReduce | Dean and Ghemawat, *MapReduce* (OSDI 2004) describes Google's system, of which Hadoop is an open implementation | programs of two functions; every result goes to a distributed file system, HDFS |
# | Spark | Zaharia and others, *Resilient Distributed Datasets* (NSDI 2012) | results stay in memory; what is lost is computed again from its **lineage**, the list of operations that made it |
# | MLlib | Meng and others, *MLlib: Machine Learning in Apache Spark* (JMLR 2016) | the algorithms of this lab as a library of Spark |
# | SparkNet | Moritz and others, *SparkNet: Training Deep Networks in Spark* (2015, [arXiv:1511.06051](https://arxiv.org/abs/1511.06051)) | lab 10's averaging, as a Spark program |
# | Dask | Rocklin, *Dask: Parallel Computation with Blocked Algorithms and Task Scheduling* (SciPy 2015) | graphs of tasks for NumPy and pandas, in Python alone |
# | Ray | Moritz and others, *Ray: A Distributed Framework for Emerging AI Applications* (OSDI 2018) | tasks and actors with state; used for training, tuning and serving |
#
# The lecture's slides are from about 2020. Since then the division of work has become clearer. Data are prepared by
# systems that descend from MapReduce: Spark is at version 4 (4.0 appeared in May 2025, 4.1 in December 2025), and most
# of its users write SQL or data frames instead of mappers. Networks are trained by all-reduce, as in labs 5, 6 and 13.
# Parameter servers remain where models are sparse and huge, as in advertising and recommendation. What MapReduce taught
# is in all of them: state what can be computed in any order, and let the system do the rest.
#
# **On real GPUs** (expected, not measured): the mappers of steps 4, 5 and 7 are matrix products, which a GPU computes
# 10 to 100 times faster, and the shuffle sends less than 1 MB. So the limit moves to reading the data. Copy a shard to
# the GPU once, and keep it there between iterations: this is Spark's idea again. The cell below times a k-means
# mapper on a GPU if there is one.

# %% measure
# Demonstration (not graded): the distances of k-means on a GPU, beside NumPy.
import time

import torch

if torch.cuda.is_available():
    on_gpu, its_centres = (torch.from_numpy(each).cuda() for each in (points, points[:10]))
    torch.cdist(on_gpu, its_centres).argmin(dim=1)
    torch.cuda.synchronize()
    begin = time.perf_counter()
    chosen = torch.cdist(on_gpu, its_centres).argmin(dim=1).cpu().numpy()
    seconds = time.perf_counter() - begin
    begin = time.perf_counter()
    same = np.mean(chosen == nearest(points, points[:10])[0])
    print(
        f"GPU {1e3 * seconds:.2f} ms, NumPy {1e3 * (time.perf_counter() - begin):.2f} ms; {100 * same:.1f}% the same keys"
    )
else:
    print("There is no GPU here. The lab is complete without one.")

# %% [markdown]
# ## What you have now
#
# - A MapReduce with its shuffle, whose bytes you can predict.
# - A test that finds functions which may not be combined.
# - Four algorithms as sums over shards, exact up to rounding.
# - L-BFGS with divided vectors, and curves that say when it is better than SGD.
#
# The button saves this notebook and hands it in. You may hand in again as often as you like.

# %% measure hand-in
from course import hand_in

hand_in.button("14-mapreduce")
