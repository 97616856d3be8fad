# %% [markdown]
# # Lab 7: Several devices in one process
#
# So far each rank was a process or simulated one. A machine with several GPUs can also be used from **one** process.
# Keras had a function for it, `multi_gpu_model`; TensorFlow has `MirroredStrategy`; and with device scopes you choose a
# device for each part of a network. In this lab you build the first, use the second, and find out from traces where
# operations really run. You need no GPU: without one, the processor is divided into logical devices.
#
# **After this lab you can**
#
# - cut a batch of any size into slices for any number of devices, and put the outputs together again;
# - read from a trace on which device each operation ran, and say when a device scope has no effect;
# - write `multi_gpu_model`, and say what it leaves on one device;
# - train with MirroredStrategy, with the same losses as on one device;
# - compute the ratio of transfers to computation, and say which networks are worth training on several devices.
#
# | step | what | minutes |
# |---|---|---|
# | quiz | five questions from memory | 3 |
# | 1 | one slice per device | 7 |
# | 2 | cut, run, concatenate | 9 |
# | 3 | where did it run? | 10 |
# | 4 | when does a scope count? | 7 |
# | 5 | your own multi_gpu_model | 15 |
# | 6 | MirroredStrategy | 12 |
# | 7 | the ratio of transfers to computation | 11 |
# | 8 | a measurement of your own, and two questions | 13 |
#
# These steps are the core of the lab. Their minutes allow for two tries per task. The further steps give extra credit
# and can be done in any order:
#
# | further step | what | minutes |
# |---|---|---|
# | A | a program of 2019, and its F1 score | 14 |
# | B | a training loop of your own: the loss of one device | 5 |
# | C | two branches on two devices | 24 |
# | D | what changes on real GPUs | 3 |
#
# Lab 3 gave you the network, and its further step D the same network in Keras. You need nothing else from earlier labs.
#
# The programs follow Liang Dong's lecture *Distributed Deep Learning* (lesson 3): `multi_gpu_model` on MNIST, and two
# sequences through a shared LSTM. $B$ is the number of rows of a batch, and $N$ the number of devices.
#
# **In every task**, unless its text says otherwise, your function leaves its arguments unchanged, returns a new array,
# and returns float64 where it is given float64. TensorFlow computes in float32 here.

# %%
# %load_ext course
import numpy as np

from course import data, plots
from course.keras import logical_devices, multi_gpu_model, quiet_import, slices, trace
from course.questions import outcome

HOST = "CPU:0"  # the processor, which holds the data and the weights


def tools():
    """TensorFlow, Keras, and the names of four devices. Takes some seconds the first time."""
    names = logical_devices(4)
    return *quiet_import(), names


# %% quiz opening points=1
# 1. A network has 4 inputs, one hidden layer of 3 units, and 2 outputs. How many weights does it have, biases included?
#    = 23
#    because there are 3 + 12 + 2 + 6 (lab 3).
# 2. Rank 0 has a large array, and every rank is to get a different part of it. Which collective does that?
#    a) broadcast
#    b) scatter
#    c) all-gather
#    d) reduce
#    = b
#    because a scatter cuts the array into one part per rank, as `engines.scatter` did in lab 1. A broadcast sends the
#    whole array to every rank (lab 4).
# 3. A ring all-reduce adds arrays of 1,000 numbers on 4 ranks. How many numbers does each rank send in total?
#    = 1500
#    because each rank sends 2 (4 - 1) pieces of 1,000 / 4 numbers (lab 5).
# 4. Each of $k$ = 8 ranks computes the gradient of $n$ = 32 rows per step. How many rows does the large mini-batch
#    have?
#    = 256
#    because all $k$ ranks make one step together, on $kn$ rows (lab 6).
# 5. The ranks of a data parallel program begin with different random weights, and nobody broadcasts. All make the same
#    steps of plain gradient descent, from averaged gradients. What happens to the differences between the ranks?
#    a) They vanish after one step.
#    b) They shrink slowly.
#    c) They stay as they are.
#    d) They double in each step.
#    = c
#    because every rank subtracts the same step from its own weights, which is why weights are broadcast first (lab 6).

# %% [markdown]
# ## Step 1. One slice per device
#
# **Data parallel** means that each device gets a slice of the batch and has all the weights. Slice $i$ of $N$, counted
# from 0, has the rows from $b_i$ up to, but without, $b_{i+1}$:
#
# $$ b_i = \left\lfloor \frac{i \, B}{N} \right\rfloor, \qquad i = 0, 1, \dots, N $$
#
# ⌊ ⌋ rounds down: `//` in Python. With $B = 11$ rows and $N = 4$ devices the edges are 0, 2, 5, 8, 11, and the slices
# have 2, 3, 3, 3 rows. No row is lost, and no two slices differ by more than one row. With fewer rows than devices some
# slices are empty: with $B = 2$ the edges are 0, 0, 1, 1, 2.


# %% task cut
def cut(B, N):
    """Where each of N slices of B rows begins and ends: a list of N pairs (begin, end)."""
    # about 2 lines
    ### BEGIN SOLUTION
    edges = [i * B // N for i in range(N + 1)]
    return [(edges[i], edges[i + 1]) for i in range(N)]
    ### END SOLUTION


# %% check cut points=2
got = cut(14, 4)
assert got is not None, "cut returned None. End it with a `return` statement."
got = [tuple(each) if isinstance(each, (list, tuple)) else each for each in got]
assert got != [0, 3, 7, 10, 14], "cut returned the five edges. A slice is a pair of edges, (begin, end)."
assert all(isinstance(each, tuple) and len(each) == 2 for each in got), (
    f"cut returns a list of pairs (begin, end); yours {got}."
)
assert len(got) != 5, "yours has five slices for four devices: i goes from 0 to N - 1."
assert got != [(0, 3), (3, 6), (6, 9), (9, 12)], (
    "rows 12 and 13 are in no slice: B // N rows per slice are too few when N does not divide B. Multiply before you "
    "divide: i * B // N."
)
assert got != [(0, 3), (3, 6), (6, 9), (9, 14)], (
    "the last device has 5 rows and the others 3, so all wait for the last one. Compute every edge by i * B // N."
)
assert got != [(0, 2), (3, 6), (7, 9), (10, 13)], (
    "yours loses rows: x[begin:end] does not contain row `end`, so end is where the next slice begins."
)
assert got != [(0, 4), (4, 7), (7, 11), (11, 14)], "the formula rounds down: 14 / 4 = 3.5 gives 3, not 4."
assert got == [(0, 3), (3, 7), (7, 10), (10, 14)], (
    f"the edges of 14 rows over 4 devices are 0, 3, 7, 10, 14; your slices are {got}."
)
### BEGIN HIDDEN TESTS
for B_now, N_now in [(2, 4), (0, 3), (12, 4), (1, 1), (13, 4), (100, 7)]:
    got = [tuple(each) for each in cut(B_now, N_now)]
    right = [(int(i * B_now / N_now + 1e-9), int((i + 1) * B_now / N_now + 1e-9)) for i in range(N_now)]
    assert got == right, f"{B_now} rows over {N_now} devices: {right}; yours {got}."
### END HIDDEN TESTS

# %% [markdown]
# ## Step 2. Cut, run, concatenate
#
# Now the whole idea, without any device: call $f$ on each slice, and **concatenate** the results in the order of the
# slices. If $f$ computes each row of its result from one row of $x$, then
#
# $$ \mathrm{concat}\bigl( f(x_{b_0 : b_1}), \dots, f(x_{b_{N-1} : b_N}) \bigr) = f(x) $$
#
# Dense and convolutional layers are such functions. **Batch normalization** is not: during training it subtracts the
# mean of the rows that it is given and divides by their standard deviation, so its result depends on the slice. You
# will see the difference below.
#
# Skip empty slices: $f$ is not called for them. `np.concatenate(parts)` takes a list of arrays whose numbers of rows
# may differ. A working version of step 1 is given as `slices(B, N)`.


# %% task in-slices
def in_slices(f, x, N):
    """f(x), computed by N calls of f on slices of the rows of x, fewer where slices are empty.

    x: shape (B, ...), with B at least 1. f: takes some rows of x and returns as many rows.
    """
    # about 5 lines
    ### BEGIN SOLUTION
    parts = []
    for begin, end in slices(len(x), N):
        if end > begin:
            parts.append(f(x[begin:end]))
    return np.concatenate(parts)
    ### END SOLUTION


# %% check in-slices points=3
import numpy as np

from course.checks import call, is_close

calls = []


def squares(rows):
    """Each row's two squares; notes which rows it was given."""
    rows = np.asarray(rows, dtype=float)
    assert rows.ndim == 2, f"f was given the shape {rows.shape}: a slice of one row must stay a slice, x[begin:end]."
    calls.append(rows[:, 0].tolist())
    assert len(rows), "f was given a slice without rows: skip empty slices."
    return rows**2


def tried(B, N):
    """Check B rows over N devices."""
    calls.clear()
    x = np.stack([np.arange(1.0, B + 1), -np.arange(1.0, B + 1)], axis=1)
    got = call(in_slices, squares, x, N)
    assert calls, "f was never called."
    assert got is not None, "in_slices returned None. End it with a `return` statement."
    assert N == 1 or B == 1 or calls[0] != x[:, 0].tolist(), (
        "f was given the whole batch: give it one slice at a time, x[begin:end]."
    )
    edges = [i * B // N for i in range(N + 1)]
    right = [x[edges[i] : edges[i + 1], 0].tolist() for i in range(N) if edges[i + 1] > edges[i]]
    assert calls == right, (
        f"{B} rows over {N} devices: f must be given the rows {right}, one slice after the other; yours was given "
        f"{calls}."
    )
    if isinstance(got, list):
        raise AssertionError("in_slices returned a list. np.concatenate makes one array of it.")
    got = np.asarray(got, dtype=float)
    flipped = np.concatenate([x[edges[i] : edges[i + 1]] ** 2 for i in reversed(range(N))])
    assert got.shape != x.T.shape or N == 1 or B == 2, "concatenate along the rows, the first axis."
    assert got.shape == x.shape, f"{B} rows give {B} rows, shape {x.shape}; yours has {got.shape}."
    assert N == 1 or B < 3 or not np.array_equal(got, flipped), (
        "the slices are concatenated in reverse: keep their order."
    )
    assert np.array_equal(got, x**2), f"for {B} rows over {N} devices f(x) is\n{x**2}\nyours\n{got}"


tried(11, 4)
tried(2, 4)
### BEGIN HIDDEN TESTS
for B_now, N_now in [(1, 3), (12, 3), (5, 1), (13, 4), (7, 8)]:
    tried(B_now, N_now)
thirds = np.arange(1.0, 8.0).reshape(7, 1) / 3
got = call(in_slices, lambda rows: np.asarray(rows, dtype=float) + 1, thirds, 3)
assert is_close(got, thirds + 1), "f returned float64, but digits are lost: only concatenate what f returns."
### END HIDDEN TESTS
assert tried(4, 2) is None, "a last case: four rows, two devices."

# %% measure
# Demonstration (not graded): tanh, which treats each row alone, and a batch normalization, on 11 rows in 4 slices.
x = np.random.default_rng(1).normal(size=(11, 3))
for name, f in {
    "tanh": np.tanh,
    "batch normalization": lambda rows: (rows - rows.mean(axis=0)) / rows.std(axis=0),
}.items():
    print(
        f"{name}: largest difference between slices and the whole batch {np.abs(in_slices(f, x, 4) - f(x)).max():.2g}"
    )

# %% [markdown]
# A network with batch normalization can still be trained in slices, but its statistics are those of a slice. Lab 8
# returns to that.
#
# ## Step 3. Where did it run?
#
# A machine's devices have names: `CPU:0` is the processor, `GPU:0` and `GPU:1` are the first two GPUs. Here you work
# with four **logical devices**. Without a GPU the processor is divided into four logical CPUs: for TensorFlow they are
# as separate as four GPUs, and only the cores are shared. A single GPU is divided into four logical GPUs. The code
# below is the same in both cases. The next cell makes the devices. (TensorFlow does this once in a process, before its
# first tensor. To change the number, restart the kernel.)

# %% measure
# Demonstration (not graded): this imports TensorFlow, which takes some seconds.
tf, keras, names = tools()
print("TensorFlow", tf.__version__, " Keras", keras.__version__)

# %% [markdown]
# TensorFlow can compute one operation after the other, as NumPy does. For training, Keras makes a *graph* of
# operations instead and runs the graph. So does `tf.function(f)`: its first call runs `f` to make the operations, and
# every call then runs these operations.
#
# A **device scope** says where operations are to run: `with tf.device("CPU:1"):`. Whether it has an effect, only a
# trace can tell. `trace(function, x)` runs a graph, such as `tf.function(f)`, under TensorFlow's own profiler and
# returns a list with one dict per operation that ran:
#
# | key | for example | meaning |
# |---|---|---|
# | `"device"` | `"CPU:1"` | where it ran |
# | `"kind"` | `"MatMul"` | what was computed, here a matrix product |
# | `"name"` | `"dense_3/MatMul"` | for which layer |
# | `"start"`, `"end"` | `0.0012`, `0.0015` | when, in seconds |
#
# Count how many operations of one kind each device ran.


# %% task count-by-device
def count_by_device(operations, kind):
    """How many operations of `kind` ran on each device: a dict from the device's name to a number.

    operations: a list of dicts as above. Devices that ran none of this kind are left out.
    """
    # about 5 lines
    ### BEGIN SOLUTION
    counts = {}
    for each in operations:
        if each["kind"] == kind:
            counts[each["device"]] = counts.get(each["device"], 0) + 1
    return counts
    ### END SOLUTION


# %% check count-by-device points=2
rows = [("CPU:1", "MatMul"), ("CPU:2", "MatMul"), ("CPU:1", "Softmax"), ("CPU:0", "ConcatV2"), ("CPU:1", "MatMul")]
log = [
    {"device": device, "kind": kind, "name": f"layer/{kind}", "start": i / 10, "end": i / 10 + 0.05}
    for i, (device, kind) in enumerate(rows)
]
got = count_by_device(log, "MatMul")
assert got is not None, "count_by_device returned None. End it with a `return` statement."
assert isinstance(got, dict), f"expected a dict from device to number, got {got!r}."
got = dict(got)
assert got != {"CPU:1": 3, "CPU:2": 1, "CPU:0": 1}, (
    'yours counts operations of every kind: compare each one\'s "kind" first.'
)
assert got != {"CPU:1": 1, "CPU:2": 1}, (
    "CPU:1 ran two products, but yours says 1: add to the count that is already there."
)
assert got != {"MatMul": 3}, "yours counts the 3 products of all devices together: the keys of the dict are devices."
assert got != {"CPU:1": 2, "CPU:2": 1, "CPU:0": 0}, "CPU:0 ran no product, so it must not be in the dict."
assert got == {"CPU:1": 2, "CPU:2": 1}, f"CPU:1 ran two products and CPU:2 one; yours {got}."
### BEGIN HIDDEN TESTS
from course.checks import call

assert dict(call(count_by_device, log, "Softmax")) == {"CPU:1": 1}, "one Softmax ran, on CPU:1."
assert dict(count_by_device(log, "Tanh")) == {}, "no Tanh ran: the dict is empty."
assert dict(count_by_device([], "MatMul")) == {}, "nothing ran: the dict is empty."
more = [{"device": f"GPU:{i % 3}", "kind": "MatMul", "name": "m", "start": i, "end": i + 1} for i in range(11)]
got = dict(count_by_device(more, "MatMul"))
assert got == {"GPU:0": 4, "GPU:1": 4, "GPU:2": 3}, (
    f"eleven products in turn on three GPUs are 4, 4 and 3; yours {got}."
)
### END HIDDEN TESTS

# %% measure
# Demonstration (not graded): scopes around the calls of two layers, as in the lecture. Where do the products run?
tf, keras, names = tools()
inputs = keras.Input((20,))
with tf.device(names[1]):
    left = keras.layers.Dense(30)(inputs)
with tf.device(names[2]):
    right = keras.layers.Dense(30)(inputs)
scoped = keras.Model(inputs, keras.layers.concatenate([left, right]))
ran = count_by_device(trace(tf.function(scoped), tf.ones((8, 20))), "MatMul")
print("the scopes name:", {names[1]: 1, names[2]: 1})
print("products ran on:", ran)
print("The scopes had no effect." if set(ran) != set(names[1:3]) else "The scopes had an effect.")

# %% [markdown]
# (The lecture prints `tf.device_scope`, which does not exist; the name is `tf.device`.)
#
# Why? In Keras 3, `Dense(30)(inputs)` computes nothing. It only notes that the model has such a layer. The matrix
# product is made later, when the model is called, and by then the scope is closed. In 2019 this was different: with
# TensorFlow 1, calling a layer made its operations at once, inside the scope.
#
# ## Step 4. When does a scope count?
#
# A scope counts for the operations that are **made** while it is open. Here are four ways to put a dense layer on a
# device. Decide which of them have an effect. You may find out with `trace` and `count_by_device`, as above.


# %%
def way_a(device):
    """The scope is around the line that makes the layer."""
    tf, keras, _ = tools()
    with tf.device(device):
        layer = keras.layers.Dense(30)
    return tf.function(lambda x: layer(x))


def way_b(device):
    """The scope is around the call of the layer on keras.Input."""
    tf, keras, _ = tools()
    inputs = keras.Input((20,))
    layer = keras.layers.Dense(30)
    with tf.device(device):
        outputs = layer(inputs)
    return tf.function(keras.Model(inputs, outputs))


def way_c(device):
    """The scope is in the function that computes with the layer."""
    tf, keras, _ = tools()
    layer = keras.layers.Dense(30)

    def compute(x):
        with tf.device(device):
            return layer(x)

    return tf.function(compute)


def way_d(device):
    """The scope is in the `call` of a layer around the layer."""
    tf, keras, _ = tools()

    class Around(keras.layers.Layer):
        def __init__(self):
            super().__init__()
            self.layer = keras.layers.Dense(30)

        def call(self, x):
            with tf.device(device):
                return self.layer(x)

    inputs = keras.Input((20,))
    return tf.function(keras.Model(inputs, Around()(inputs)))


# %% task ways
def ways():
    """The letters of the ways whose matrix product runs on the device: a list such as ["a", "b"]."""
    # 1 line: your decision
    ### BEGIN SOLUTION
    return ["c", "d"]
    ### END SOLUTION


# %%
# For the check below: it traces all four ways. Decide first.
def try_ways():
    """Whether the product of each way runs on the device that the way was given: a dict from letter to bool."""
    tf, _, names = tools()
    works = {}
    for letter, way in {"a": way_a, "b": way_b, "c": way_c, "d": way_d}.items():
        ran = trace(way(names[2]), tf.ones((8, 20)))
        works[letter] = {each["device"] for each in ran if each["kind"] == "MatMul"} == {names[2]}
    return works


# %% check ways points=2
got = ways()
assert got is not None, "ways returned None. End it with a `return` statement."
assert isinstance(got, (list, tuple, set)), f'ways returns a list of letters, such as ["a", "b"]; yours {got!r}.'
got = {str(each).lower() for each in got}
assert got <= set("abcd"), f"the letters are a, b, c and d; yours {sorted(got)}."
works = dict(try_ways())
assert "a" not in got or works["a"], (
    "way a has no effect: making a layer computes nothing. The product is made when the layer is called, after the "
    "scope."
)
assert "b" not in got or works["b"], (
    "way b has no effect: on keras.Input a layer is only noted. The product is made when the model is called."
)
assert "c" in got or not works["c"], (
    "one more way has an effect: tf.function runs `compute` once to make its operations. Is a scope open then?"
)
assert "d" in got or not works["d"], (
    "one more way has an effect: Keras runs `call` whenever the model makes its operations. Is a scope open then?"
)
assert got == {letter for letter in works if works[letter]}, f"a trace disagrees with yours, {sorted(got)}."

# %% [markdown]
# The function `placed` below is way d, for any layer and device. Further step C uses it.


# %%
def run_on(layer, x, device):
    """layer(x), with its operations on `device`."""
    tf, _, _ = tools()
    with tf.device(device):
        return layer(x)


def placed(layer, device):
    """A Keras layer that does what `layer` does, on `device`."""
    _, keras, _ = tools()

    class Placed(keras.layers.Layer):
        def __init__(self):
            super().__init__()
            self.layer = layer

        def call(self, x):
            return run_on(self.layer, x, device)

    return Placed()


# %% [markdown]
# ## Step 5. Your own multi_gpu_model
#
# Now put steps 2 and 4 together. Each slice of the batch goes through the **same** model, and so through the same
# weights, but each slice on its own device. The host concatenates the outputs. When Keras makes a graph, the number of
# rows is not known yet, so it is a tensor: `tf.shape(x)[0]`. The function `slices` takes tensors as well.
#
# You need `x[begin:end]`, `model(...)`, `with tf.device(...)`, and `tf.concat(parts, axis=0)`. An empty slice is no
# special case here: the model returns no rows for it, and concatenating no rows adds nothing.


# %%
def parallel(model, devices, replicate):
    """A Keras model that does what `model` does, by replicate(model, x, devices)."""
    _, keras, _ = tools()

    class Parallel(keras.Model):
        def __init__(self):
            super().__init__()
            self.model = model

        def call(self, x):
            return replicate(self.model, x, devices)

    return Parallel()


def network(weights):
    """A network with one hidden layer of ReLUs, with these weights: a list of two matrices and their biases."""
    _, keras, _ = tools()
    model = keras.Sequential(
        [
            keras.Input((weights[0].shape[0],)),
            keras.layers.Dense(len(weights[1]), activation="relu"),
            keras.layers.Dense(len(weights[3])),
        ]
    )
    model.set_weights(weights)
    return model


def try_replicas(replicate, xs, weights):
    """Call replicate on each batch of xs, with three devices: the outputs, and where operations ran on the first."""
    tf, _, names = tools()
    base = network(weights)
    if replicate(base, tf.constant(xs[0], tf.float32), names[1:]) is None:
        return None
    graph = tf.function(parallel(base, names[1:], replicate), reduce_retracing=True)
    outputs = [graph(tf.constant(x, tf.float32)).numpy() for x in xs]
    ran = [[each["kind"], each["device"]] for each in trace(graph, tf.constant(xs[0], tf.float32))]
    return {"outputs": outputs, "devices": list(names[1:]), "ran": ran}


# %% task replicate
def replicate(model, x, devices):
    """model(x): each slice of the rows of x on its device, and the outputs concatenated on HOST."""
    tf, _, _ = tools()
    B = tf.shape(x)[0]
    # about 6 lines
    ### BEGIN SOLUTION
    parts = []
    for (begin, end), device in zip(slices(B, len(devices)), devices, strict=True):
        with tf.device(device):
            parts.append(model(x[begin:end]))
    with tf.device(HOST):
        return tf.concat(parts, axis=0)
    ### END SOLUTION


# %% check replicate points=3
import numpy as np

draw = np.random.default_rng(5)
weights = [draw.normal(size=shape) for shape in [(5, 4), (4,), (4, 3), (3,)]]
xs = [draw.normal(size=(B_now, 5)) for B_now in (11, 12, 2, 1)]
got = try_replicas(replicate, xs, weights)
assert got is not None, "replicate returned None. Return the concatenated outputs."
for x, outputs in zip(xs, got["outputs"], strict=True):
    outputs = np.asarray(outputs, dtype=float)
    expected = np.maximum(x @ weights[0] + weights[1], 0) @ weights[2] + weights[3]
    B_now = len(x)
    edges = [i * B_now // 3 for i in range(4)]
    turned = np.concatenate([expected[edges[i] : edges[i + 1]] for i in (2, 1, 0)])
    assert outputs.shape != (3 * B_now, 3), (
        "every device computed the whole batch: give each device its slice, x[begin:end]."
    )
    assert outputs.shape == expected.shape, (
        f"{B_now} rows over 3 devices: the outputs have the shape {expected.shape}; yours {outputs.shape}. Is every "
        "slice there, and are they concatenated along the rows, axis=0?"
    )
    assert B_now < 3 or not np.allclose(outputs, turned, atol=1e-5), (
        "the slices are concatenated in reverse: keep their order."
    )
    assert np.allclose(outputs, expected, atol=1e-5), (
        f"{B_now} rows over 3 devices: the model itself gives\n{expected}\nyours\n{outputs}"
    )

# %% check replicate-places points=2
import numpy as np

weights = [np.ones(shape) for shape in [(5, 4), (4,), (4, 3), (3,)]]
got = try_replicas(replicate, [np.ones((7, 5))], weights)
assert got is not None, "replicate returned None. Return the concatenated outputs."
devices, ran = list(got["devices"]), [tuple(each) for each in got["ran"]]
products = {name: ran.count(("MatMul", name)) for name in ["CPU:0", "GPU:0", *devices] if ("MatMul", name) in ran}
merged = [device for kind, device in ran if kind == "ConcatV2"]
assert set(products) != {"CPU:0"} and set(products) != {"GPU:0"}, (
    f"all products ran on {next(iter(products), 'no device')}: call model(...) inside `with tf.device(device):`."
)
assert set(products) == set(devices), f"products should run on {devices}, but ran on {sorted(products)}."
assert set(products.values()) == {2}, (
    f"the network has two layers, so each device computes two products; yours {products}."
)
assert merged == ["CPU:0"], (
    f"concatenate on HOST, CPU:0, inside a second scope, `with tf.device(HOST):`; yours ran on {merged}."
)

# %% [markdown]
# Does a step of training run on three devices as well? `fit` calls your function for the forward pass, and then asks
# TensorFlow for the gradient.

# %% predict gradient-devices
# Your function puts the products of the forward pass on three devices. On how many devices do the products of the
# gradient run? Write a number.

# %% measure
# Measurement (not graded): a step of training with your function. Which device computes what?
from IPython.display import display

tf, keras, names = tools()


def wide():
    """A network with 784 inputs and 1024 hidden units."""
    rng = np.random.default_rng(1)
    return network([rng.normal(0, 0.03, shape) for shape in [(784, 1024), (1024,), (1024, 10), (10,)]])


def is_gradient(operation):
    """Whether an operation belongs to the gradient."""
    return "gradient_tape" in operation["name"]


def places(model):
    """A trace of one step of training. Prints how many products each device computed in it, forward and backward."""
    x, y = np.random.default_rng(2).random((300, 784), dtype=np.float32), np.arange(300) % 10
    model.compile("sgd", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    model.train_on_batch(x, y)
    ran = trace(model.train_on_batch, x, y)
    print("products forward:         ", count_by_device([each for each in ran if not is_gradient(each)], "MatMul"))
    print("products for the gradient:", count_by_device([each for each in ran if is_gradient(each)], "MatMul"))
    return ran


ran = places(parallel(wide(), names[1:], replicate))
outcome("gradient-devices", len(count_by_device([each for each in ran if is_gradient(each)], "MatMul")))
display(ran.timeline("A step of training with your replicate"))

# %% [markdown]
# Look at the two lines of counts. The operations of the gradient are made when `fit` asks for the gradient. By then
# your scopes are closed, as in step 3, so TensorFlow puts these operations on the first device, where the weights are.
# The model still gives the right numbers. But the gradient is the larger part of the work, and while one device
# computes it, the others are idle.
#
# The course's `multi_gpu_model` opens the scope a second time, for the gradient. Otherwise it is your function. It also
# gives an empty slice one row to compute and discards the output, because a layer that computes means would return
# `nan` for no rows.

# %% measure
# Demonstration (not graded): the same step with the course's function, on all four devices.
display(places(multi_gpu_model(wide(), gpus=4)).timeline("A step of training with multi_gpu_model"))

# %% [markdown]
# ## Step 6. MirroredStrategy
#
# Version 2.4 of TensorFlow removed `multi_gpu_model`. It keeps one set of weights, and each step sends it to all
# devices. Its successor is `tf.distribute.MirroredStrategy`: every device keeps a **copy** of the weights and computes
# the loss and the gradient of its slice. An all-reduce adds the gradients, and then all devices make the same step. It
# is data parallel training as you know it from ranks, in one process.
#
# In Keras it takes three steps. Make the strategy. **Build and compile the model inside its scope**, because its
# variables are made there, one copy per device. Then call `fit` as usual; `batch_size` is the size $B$ of the whole
# batch.
#
#     strategy = tf.distribute.MirroredStrategy(names, cross_device_ops=tf.distribute.ReductionToOneDevice())
#     with strategy.scope():
#         ...
#
# `ReductionToOneDevice` adds the gradients on one device, which works everywhere. If each device is a real GPU, leave
# it out; then the library NCCL does a ring all-reduce. To compare with one device, the batches must be the same: call
# `fit` with `shuffle=False`. `fit(...).history["loss"]` is the list of the losses of the epochs.


# %%
def small_problem():
    """90 examples of three classes, shape (90, 6) and (90,), and a function that builds and compiles a network."""
    _, keras, _ = tools()
    rng = np.random.default_rng(4)
    x, y = rng.normal(size=(90, 6)).astype(np.float32), rng.integers(0, 3, 90)
    weights = [rng.normal(size=shape) / 2 for shape in [(6, 8), (8,), (8, 3), (3,)]]

    def build():
        model = network(weights)
        model.compile(keras.optimizers.SGD(0.1), keras.losses.SparseCategoricalCrossentropy(from_logits=True))
        return model

    return x, y, weights, build


def try_mirrored(mirrored):
    """Call mirrored on the small problem: its losses, the data, and how many copies of the weights were made."""
    tf, _, names = tools()
    x, y, weights, build = small_problem()
    copies = []

    def noting_build():
        copies.append(tf.distribute.get_strategy().num_replicas_in_sync)
        return build()

    try:
        losses = mirrored(noting_build, x, y, names[:2], B=30, epochs=2)
    except (AssertionError, tf.errors.InvalidArgumentError):  # from Keras, whose messages do not name the cause
        if copies == [2]:
            raise
        losses = []
    return {"losses": getattr(losses, "history", losses), "copies": copies, "x": x, "y": y, "weights": weights}


# %% task mirrored
def mirrored(build, x, y, devices, B, epochs):
    """The losses of the epochs of training under MirroredStrategy on `devices`; a list.

    build(): makes and compiles the model. B: rows of a batch, of all devices together.
    """
    tf, _, _ = tools()
    # about 5 lines
    ### BEGIN SOLUTION
    strategy = tf.distribute.MirroredStrategy(devices, cross_device_ops=tf.distribute.ReductionToOneDevice())
    with strategy.scope():
        model = build()
    history = model.fit(x, y, batch_size=B, epochs=epochs, shuffle=False, verbose=0)
    return history.history["loss"]
    ### END SOLUTION


# %% check mirrored points=3
import numpy as np


def one_device(x, y, weights, B_now, epochs):
    """The same training on one device, computed by the check itself; the losses of the epochs."""
    W, b, V, c = (np.array(w, dtype=float) for w in weights)
    losses = []
    while len(losses) < epochs:
        total = 0.0
        for at in range(0, len(y), B_now):
            rows, hot = x[at : at + B_now].astype(float), np.eye(3)[y[at : at + B_now]]
            h = np.maximum(rows @ W + b, 0)
            T = h @ V + c
            p = np.exp(T - T.max(axis=1, keepdims=True))
            p /= p.sum(axis=1, keepdims=True)
            total -= np.log(p[hot == 1]).sum()
            back = (p - hot) / len(rows)
            bent = (back @ V.T) * (h > 0)
            W, b, V, c = (
                w - 0.1 * g
                for w, g in zip((W, b, V, c), (rows.T @ bent, bent.sum(0), h.T @ back, back.sum(0)), strict=True)
            )
        losses.append(total / len(y))
    return losses


got = try_mirrored(mirrored)
assert got["losses"] is not None, "mirrored returned None. Return the list of losses."
assert not isinstance(got["losses"], dict), (
    "mirrored returned what `fit` returns, or its dictionary of all measures. The list of losses is one of its entries."
)
copies = list(got["copies"])
assert copies, "build was never called: the model is made by build()."
assert copies[0] <= 2, (
    f"the model has {copies[0]} copies of its weights, one for each device of the machine. Pass `devices` to the strategy."
)
assert copies[0] == 2, (
    f"the model was built with {copies[0]} copy of its weights, not 2: call build() inside `with strategy.scope():`, "
    "and give the strategy all the devices."
)
losses = np.asarray(got["losses"], dtype=float)
assert losses.shape == (2,), (
    f"2 epochs have 2 losses; yours has the shape {losses.shape}. Return fit(...).history['loss']."
)
x, y, weights = np.asarray(got["x"]), np.asarray(got["y"]), [np.asarray(w) for w in got["weights"]]
right = one_device(x, y, weights, 30, 2)
assert not np.allclose(losses, one_device(x, y, weights, 60, 2), atol=1e-5), (
    "yours trained with batches of 60: B is the size of the whole batch already, and the strategy cuts the batch: "
    "batch_size=B."
)
assert not np.allclose(losses, one_device(x, y, weights, 15, 2), atol=1e-5), (
    "yours trained with batches of 15: B is the size of the whole batch, and the strategy cuts the batch itself: "
    "batch_size=B."
)
assert np.allclose(losses, right, atol=1e-5), (
    f"one device has the losses {np.round(right, 5)}; yours {np.round(losses, 5)}. Are the batches the same: "
    "batch_size=B, and shuffle=False?"
)

# %% measure
# Demonstration (not graded): one step of MirroredStrategy on three devices. Compare it with the two pictures of step 5.
tf, keras, names = tools()
strategy = tf.distribute.MirroredStrategy(names[1:], cross_device_ops=tf.distribute.ReductionToOneDevice())
with strategy.scope():
    copied = wide()
display(places(copied).timeline("A step of training with MirroredStrategy"))

# %% [markdown]
# ## Step 7. The ratio of transfers to computation
#
# Several devices pay off if they compute for long and transfer little. The lecture says that networks which share their
# weights, such as convolutional and recurrent networks, are good candidates. Make that a number.
#
# In each step every device transfers its gradient, one number of 4 bytes per weight. (A ring all-reduce sends up to
# twice as much, see lab 5. That does not change how networks compare.) How much does it compute? A weight that is used
# once per example costs one multiplication and one addition forward, and about twice as much for the gradient: 6
# operations. If layer $l$ has $W_l$ weights, and each of them is used $u_l$ times per example, then for $n$ examples
# per device
#
# $$ \rho = \frac{\text{bytes transferred}}{\text{operations}} = \frac{4 \sum_l W_l}{6 \, n \sum_l W_l \, u_l} $$
#
# The layers differ in how often they use a weight:
#
# - A **dense** layer from $p$ inputs to $M$ units has $M(p + 1)$ weights, with the biases. It uses each once per
#   example.
# - A **convolutional** layer slides filters of $s \times s$ pixels over an image with $c$ channels. Each of its $M$
#   filters has $s^2 c$ weights and one bias. It uses every weight at each of the $h \times w$ places of its output.
# - An **LSTM** layer is four dense layers from $p + M$ inputs (the numbers of this time step, and its own $M$ outputs
#   of the step before) to $M$ units. It uses every weight in each of the $t$ time steps.
#
# Write each layer as a pair ($W$, $u$), and then the ratio. The dense layer is given. (For simplicity a bias counts
# like any other weight.)


# %%
def dense(p, M):
    """(number of weights, uses of each weight per example) of a dense layer from p inputs to M units."""
    return M * (p + 1), 1


# %% task transfer-ratio
def convolution(s, c, M, h, w):
    """(weights, uses) of M filters of s by s pixels and c channels, with an output of h by w places."""
    # about 1 line
    ### BEGIN SOLUTION
    return M * (s * s * c + 1), h * w
    ### END SOLUTION


def lstm(p, M, t):
    """(weights, uses) of an LSTM layer with M units, for t time steps of p numbers."""
    # about 1 line
    ### BEGIN SOLUTION
    return 4 * M * (p + M + 1), t
    ### END SOLUTION


def transfer_ratio(layers, n):
    """Bytes transferred per operation computed, by one device in one step with n examples.

    layers: a list of pairs (weights, uses).
    """
    # about 3 lines
    ### BEGIN SOLUTION
    transferred = 4 * sum(weights for weights, _ in layers)
    computed = 6 * n * sum(weights * uses for weights, uses in layers)
    return transferred / computed
    ### END SOLUTION


# %% check transfer-ratio points=3
from course.checks import call

# By hand: 2 filters of 3 x 3 pixels and 4 channels have 2 · 37 weights; an LSTM of 3 units for 2 inputs has
# 4 · 3 · 6 weights.
got = call(convolution, 3, 4, 2, 5, 6)
assert got is not None, "convolution returned None. End it with a `return` statement."
assert isinstance(got, (tuple, list)) and len(got) == 2, "convolution returns a pair (weights, uses)."
got = tuple(got)
assert got != (72, 30), "72 weights: the biases of the filters are missing. Each of the 2 filters has one."
assert got != (26, 30) and got != (20, 30), "each filter has 3 · 3 weights for each of the 4 channels."
assert got != (37, 30), "37 weights are those of one filter; the layer has 2 filters."
assert got[1] != 60, "60 uses: one weight belongs to one filter, so it is used once per place, 5 · 6 times."
assert got[1] != 1, "each weight of a filter is used at every place of the output, not once."
assert got == (74, 30), f"2 filters of 3 · 3 · 4 + 1 weights, used at 5 · 6 places: (74, 30); yours {got}."
got = call(lstm, 2, 3, 7)
assert got is not None, "lstm returned None. End it with a `return` statement."
got = tuple(got)
assert got != (18, 7), "18 weights are those of one dense layer; an LSTM is four of them."
assert got != (60, 7), "60 weights: the biases of the LSTM are missing. Each of the four dense layers has 3."
assert got != (36, 7), "the LSTM's own outputs are missing: each dense layer has p + M inputs."
assert got[1] != 1, "an LSTM uses each weight in every time step, not once."
assert got == (72, 7), f"four dense layers with 3 · (2 + 3 + 1) weights, used 7 times: (72, 7); yours {got}."
got = call(transfer_ratio, [(100, 1), (10, 30)], 5)
assert got is not None, "transfer_ratio returned None. End it with a `return` statement."
got = float(got)
right = 440 / (6 * 5 * 400)
assert abs(got - 1 / right) > 1e-6, "yours is computation divided by transfers: divide the bytes by the operations."
assert abs(got - right * 5) > 1e-9, (
    "the number of examples n is missing: every example is computed, and only the sum sent."
)
assert abs(got - right * 25) > 1e-9, "yours multiplies by n: more examples are more computation, for the same transfer."
assert abs(got - right / 4) > 1e-9, "a number has 4 bytes: the factor 4 is missing."
assert abs(got - right * 6) > 1e-9 and abs(got - right * 3) > 1e-9, "each use of a weight costs 6 operations."
assert abs(got - 4 / (6 * 5 * 31)) > 1e-9, (
    "yours adds up the uses alone: a layer computes its weights times their uses."
)
average = (4 / 30 + 4 / 900) / 2
assert abs(got - average) > 1e-9 and abs(got - 2 * average) > 1e-9, (
    "yours combines the ratios of the layers. Add the bytes of all layers and the operations of all layers, then "
    "divide."
)
assert abs(got - right) <= 1e-12, f"110 weights and 400 uses, n = 5: 440 / 12000 = {right:.5f}; yours {got:.5f}."
### BEGIN HIDDEN TESTS
assert tuple(convolution(5, 1, 32, 24, 24)) == (832, 576), "32 filters of 5 x 5 on one channel, 24 x 24: (832, 576)."
assert tuple(lstm(256, 64, 140)) == (82176, 140), "64 units, 256 inputs, 140 steps: (82176, 140)."
got, right = float(transfer_ratio([(7, 2), (5, 3), (1, 1)], 11)), 52 / (6 * 11 * 30)
assert abs(got - right) <= 1e-12, f"three other layers: {right:.6f}; yours {got:.6f}."
### END HIDDEN TESTS

# %% [markdown]
# Compute it for three networks: the dense network of step 5; the lecture's convolutional network for MNIST; and the
# lecture's LSTM, which encodes two sequences of 140 time steps with the same weights.

# %% predict least-transfers
# Which network transfers the fewest bytes per operation?
# a) the dense network, 784 - 1024 - 10
# b) the convolutional network
# c) the LSTM
# d) all three the same

# %% measure
# Measurement (not graded): the ratio for three networks, with one example per device. Change the speeds to your own.
operations_per_second, bytes_per_second = 1e13, 1e10  # of one device, and of its connection
networks = {
    "dense": [dense(784, 1024), dense(1024, 10)],
    "convolutional": [convolution(5, 1, 32, 24, 24), convolution(5, 32, 64, 8, 8), dense(1024, 1024), dense(1024, 10)],
    "LSTM": [lstm(256, 64, 2 * 140)],  # two sequences
}
ratios = {name: transfer_ratio(layers, n=1) for name, layers in networks.items()}
for name, layers in networks.items():
    total, enough = sum(weights for weights, _ in layers), ratios[name] * operations_per_second / bytes_per_second
    print(
        f"{name:14} {total:9,} weights; {ratios[name]:.4f} / n bytes per operation; transfers take as long as "
        f"computing at n = {enough:,.0f}"
    )
outcome("least-transfers", "abc"[list(ratios.values()).index(min(ratios.values()))])

# %% [markdown]
# At the $n$ at the end of each line a device spends as much time on transfers as on computing. With more examples per
# device it computes for longer than it transfers. In a dense network each weight is used once, so the ratio does not
# depend on its size. This is the lecture's statement as a number: what counts is how often a weight is used.
#
# ## Step 8. A measurement of your own, and two questions
#
# **From how many rows on do three devices pay off?** Write down a guess first. The next cell times a step of training
# of the network `wide`, on one device and under MirroredStrategy on three. Add other numbers of rows, or another
# network. Without GPUs the three logical devices share the cores of one processor, so do not expect a factor of three.
# Each number is the best of five steps.

# %% measure
# Your measurement (not graded): change the numbers of rows.
import time

tf, keras, names = tools()


def time_step(model, rows):
    """Seconds of one step of training on a batch of `rows` rows: the best of five."""
    x, y = np.random.default_rng(2).random((rows, 784), dtype=np.float32), np.arange(rows) % 10
    model.train_on_batch(x, y)
    seconds = []
    for _ in range(5):
        begin = time.perf_counter()
        model.train_on_batch(x, y)
        seconds.append(time.perf_counter() - begin)
    return min(seconds)


def make_model():
    model = wide()
    model.compile("sgd", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    return model


alone = make_model()
strategy = tf.distribute.MirroredStrategy(names[1:], cross_device_ops=tf.distribute.ReductionToOneDevice())
with strategy.scope():
    shared = make_model()
for rows in (30, 300, 3000):
    one, three = time_step(alone, rows), time_step(shared, rows)
    print(
        f"{rows:5} rows: {1e3 * one:6.1f} ms on one device, {1e3 * three:6.1f} ms on three: {one / three:.2f} times "
        "as fast"
    )

# %% [markdown]
# **Question 1.** Compare the three traces of a training step: your `replicate`, `multi_gpu_model` and MirroredStrategy.
# For each, say where the forward pass ran, where the gradient, and where the weights are. Which of your models would
# have looked right without a trace, and what would it have cost on four real GPUs? (4 to 6 sentences, with your
# numbers.)

# %% [markdown] answer three-traces points=2
# ### BEGIN SOLUTION
# With replicate the forward pass ran on the three devices that I asked for, two products each, and all 9 products of
# the gradient on CPU:0. multi_gpu_model had both on each of its four devices, 2 and 3 products, and MirroredStrategy on
# each of its three. The first two have one set of weights, on CPU:0: in each step it is sent to all devices, and
# the gradients come back and are added there. MirroredStrategy has a copy of the weights on each device and transfers
# gradients only. replicate would have looked right: its outputs and losses are those of one device. On four real GPUs
# the gradient, 3 products of 5, would have run on one of them. If all products take the same time, a step becomes
# 1 / (3/5 + 2/5 / 4) = 1.4 times as fast, and not 4 times, and that one GPU must also hold the intermediate results of
# all slices.
# ### END SOLUTION

# %% [markdown]
# **Question 2.** From how many rows on did three devices pay off in your measurement, and what does the ratio of step 7
# leave out on your machine? Take the speeds in step 7. Which of the three networks would you train data parallel with
# 16 examples per device? And what would you do with a network whose weights do not fit on one GPU? (4 to 6 sentences.)

# %% [markdown] answer ratio points=2
# ### BEGIN SOLUTION
# In my run three devices took 8 ms instead of 14 with 30 rows, and 21 instead of 31 with 300, but 520 instead of 143
# with 3,000 rows. My three logical devices share two busy cores, and with 3,000 rows one product already uses both of
# them. The ratio leaves out this sharing, and the fixed time of starting operations on each device. With 16 examples
# per device, transfers take as long as computing at n = 667 for the dense network and at n = 154 for the convolutional
# one, so both would mostly wait. The LSTM needs n = 3, so I would train only it data parallel at this size. If the
# weights do not fit on one GPU, slices of the batch do not help, because every device needs all weights: then the
# layers must lie on different devices.
# ### END SOLUTION

# %% [markdown]
# ## What you have now
#
# - `multi_gpu_model` cuts the batch, runs the model on each slice with the same weights, and concatenates the outputs.
#   It works for a batch of any size.
# - A scope counts for operations that are **made** while it is open. Around the lines that build a Keras 3 model it has
#   no effect. Inside `call` it has one, and the gradient needs a scope as well.
# - A trace shows where an operation ran.
# - MirroredStrategy copies the weights to each device and adds the gradients.
# - Data parallel training pays off where each weight is used often: many examples per device, convolutions, time steps.
#
# The core of this lab ends here. What follows is extra credit, in any order. The cell that hands in the lab is the last
# one. The next lab, Large mini-batches, asks what happens to the learning when $kn$ grows.
#
# ## Further: A. A program of 2019, and its F1 score (extra credit)
#
# Programs that use `keras.utils.multi_gpu_model` are still around. The lecture trains a convolutional network on MNIST
# with it. With the course's function only these lines of the program change:
#
# | in the lecture | here | why |
# |---|---|---|
# | `import tensorflow as tf` | `tf, keras, names = tools()` | the devices must be made before the first tensor |
# | `from keras.utils import multi_gpu_model` | `from course.keras import multi_gpu_model` | it is no longer in Keras |
# | `(x_train, y_train), (x_test, y_test) = mnist.load_data()` | `... = digits(2000)` | no network connection is needed; the labels are a column of floats, as Keras 2 passed them to a metric |
#
# The lecture's other program, with `cpu_relocation=True`, needs the same changes. If there are too few devices,
# `multi_gpu_model` raises `ValueError`, so the `except` of both programs works, and they train on one device. The next
# cell is a program of that shape.


# %%
def digits(rows):
    """MNIST as `keras.datasets.mnist.load_data` returns it, from a package: `rows` rows to train on, 1,000 held out.

    Returns (x, y), (x_held, y_held): x of shape (rows, 28, 28), 0 to 255; y of shape (rows, 1), floats.
    """
    mnist = data.load("mnist-5000")
    shuffled = np.random.default_rng(6).permutation(5000)
    x, y = mnist["pixels"][shuffled].reshape(-1, 28, 28), mnist["digit"][shuffled].astype(np.float32)[:, None]
    return (x[:rows], y[:rows]), (x[4000:], y[4000:])


# %% measure
# Demonstration (not graded): the lecture's network on two devices. Takes half a minute.
tf, keras, names = tools()
(x_train, y_train), (x_test, y_test) = digits(2000)
x_train, x_test = np.float32(x_train[..., None] / 255), np.float32(x_test[..., None] / 255)

image = keras.Input(shape=(28, 28, 1))
h = keras.layers.MaxPooling2D(2)(keras.layers.Conv2D(32, 5)(image))
h = keras.layers.MaxPooling2D(2)(keras.layers.Conv2D(64, 5)(h))
h = keras.layers.Dense(1024, activation="relu")(keras.layers.Flatten()(h))
with tf.device("/cpu:0"):
    model = keras.Model(image, keras.layers.Dense(10, activation="softmax")(h))


def lecture_f1(y_true, y_pred):
    """The F1 score as the lecture has it."""
    both = tf.reduce_sum(y_true * y_pred)
    precision, recall = both / tf.reduce_sum(y_true), both / tf.reduce_sum(y_pred)
    return 2 * precision * recall / (precision + recall)


try:
    pmodel = multi_gpu_model(model, gpus=2)
    print("on two devices")
except ValueError as why:
    pmodel = model
    print("on one device:", why)
pmodel.compile(optimizer="adam", loss="sparse_categorical_crossentropy", metrics=["accuracy", lecture_f1])
pmodel.fit(x_train, y_train, epochs=3, batch_size=100, verbose=2)
loss_value, accuracy, f1_value = pmodel.evaluate(x_test, y_test, verbose=0)
print(f"held out: loss {loss_value:.3f}, accuracy {accuracy:.3f}, F1 score {f1_value:.3f}")
mean = y_test.mean()
print(f"The mean held-out digit m is {mean:.2f}, and 2 m / (1 + m) is {2 * mean / (1 + mean):.3f}.")
step = trace(pmodel.train_on_batch, x_train[:100], y_train[:100])
print("one step of training:")
for kind in sorted({each["kind"] for each in step if each["kind"].startswith("Conv2D")}):
    print(f"  {kind}:", count_by_device(step, kind))

# %% [markdown]
# An F1 score cannot be above 1. Look at what `lecture_f1` multiplies. `y_true` holds the digits themselves, 0 to 9, and
# `y_pred` holds ten probabilities whose sum is 1. So the sum of the products is the sum of the digits, whatever the
# network predicts. The "precision" is always 1, the "recall" is the mean digit $m$, and the score is about $2m/(1+m)$.
# It does not change while the network learns. (The two names are also the wrong way round.)
#
# The F1 score belongs to **one class** $k$. Compare the right digits $y$ with those that the network read:
#
# - $\mathrm{TP}_k$, true positives: rows of class $k$ that were read as $k$;
# - $\mathrm{FP}_k$, false positives: rows of another class that were read as $k$;
# - $\mathrm{FN}_k$, false negatives: rows of class $k$ that were read as another class.
#
# $$ F_{1,k} = \frac{2 \, \mathrm{TP}_k}{2 \, \mathrm{TP}_k + \mathrm{FP}_k + \mathrm{FN}_k}, \qquad
# F_1 = \frac{1}{K} \sum_{k=0}^{K-1} F_{1,k} $$
#
# The average over all $K$ classes is called macro-F1. A class that does not occur and was never read counts 0. By hand,
# with $K = 3$, $y$ = 0 0 1 1 2, read as 0 1 1 1 0: class 0 has TP = 1, FP = 1, FN = 1, so ½. Class 1 has 2, 1, 0, so
# 4/5. Class 2 has 0, 0, 1, so 0. The average is 13/30.


# %% task f1
def f1(y, read, K):
    """The macro-F1 of digits y that were read as `read`, both of shape (rows,), with the classes 0 to K - 1."""
    # about 7 lines
    ### BEGIN SOLUTION
    scores = []
    for k in range(K):
        tp = np.sum((y == k) & (read == k))
        missed = np.sum((y == k) != (read == k))
        scores.append(2 * tp / (2 * tp + missed) if tp else 0.0)
    return np.mean(scores)
    ### END SOLUTION


# %% check f1 extra=2
import numpy as np

# Class 0: TP = 2, FP = 1, FN = 1. Class 1: TP = 1, FP = 2, FN = 1. Class 2 was never read.
y, read = np.array([0, 0, 0, 1, 1, 2]), np.array([0, 0, 1, 1, 0, 1])
got = f1(y, read, 3)
assert got is not None, "f1 returned None. End it with a `return` statement."
assert np.shape(got) != (3,), "f1 returned one score per class: take their average."
assert np.shape(got) == (), f"f1 returns one number; yours has the shape {np.shape(got)}."
got = float(got)
assert abs(got - 1 / 2) > 1e-9, "1/2 is the share of rows read correctly. F1 is computed per class, and then averaged."
assert abs(got - 8 / 15) > 1e-9, "class 2 was never read. It counts 0, and the average is over all K = 3 classes."
assert abs(got - 1 / 3) > 1e-9, "yours is the average precision, TP / (TP + FP): FN is missing."
assert abs(got - 7 / 18) > 1e-9, "yours is the average recall, TP / (TP + FN): FP is missing."
assert abs(got - 1 / 4) > 1e-9, "the factor 2 is missing: 2 TP in the numerator, and 2 TP + FP + FN in the denominator."
assert abs(got - 7 / 15) > 1e-9, "yours weights each class by its rows. In macro-F1 every class counts the same."
assert abs(got - 16 / 45) <= 1e-9, f"(2/3 + 2/5 + 0) / 3 is 16/45 = 0.3556; yours {got:.4f}."
got = float(f1(np.array([0, 0, 2]), np.array([0, 0, 2]), 4))
assert not np.isnan(got), "a class that does not occur and was never read gave 0 / 0: such a class counts 0."
assert abs(got - 0.5) <= 1e-9, f"two of four classes are read correctly, the others do not occur: 1/2; yours {got:.4f}."
### BEGIN HIDDEN TESTS
from course.checks import call

draw = np.random.default_rng(3)
y, read = draw.choice([0, 1, 2, 3, 4, 6, 7], size=(2, 80))
table = np.zeros((8, 8))
np.add.at(table, (y, read), 1)
right = np.mean([2 * table[k, k] / max(table[k].sum() + table[:, k].sum(), 1) for k in range(8)])
got = float(call(f1, y, read, 8))
assert abs(got - right) <= 1e-9, f"80 rows, 8 classes of which one never occurs: {right:.4f}; yours {got:.4f}."
### END HIDDEN TESTS

# %% measure
# Measurement (not graded): your F1 score of the network above, and of random guesses.
read = np.argmax(pmodel.predict(x_test, verbose=0), axis=1)
guess = np.random.default_rng(0).integers(0, 10, len(read))
print(f"macro-F1 of the network: {f1(y_test[:, 0], read, 10):.3f}; of guessing: {f1(y_test[:, 0], guess, 10):.3f}")

# %% [markdown]
# ## Further: B. A training loop of your own: the loss of one device (extra credit)
#
# Under MirroredStrategy the outputs are never put together, so each device has a loss $R_i$ of its slice, and
# TensorFlow **adds** these losses and their gradients. `fit` takes care that the sum is the mean loss of the whole
# batch. In a training loop of your own you must take care of it. The mean over all $B$ rows of the losses $\ell_j$ is a
# sum over the slices:
#
# $$ \frac{1}{B} \sum_{j} \ell_j = \sum_i R_i $$
#
# What must device $i$ compute from the losses of its own rows? `keras` losses give their mean by default, which is
# wrong here.


# %% task replica-loss
def replica_loss(losses, B):
    """One device's part R_i of the loss, a number: losses of its rows, shape (rows,), of a batch of B rows."""
    # about 1 line
    ### BEGIN SOLUTION
    return np.sum(losses) / B
    ### END SOLUTION


# %% check replica-loss extra=1
import numpy as np

# By hand: the losses of a batch of 3 rows, 3 on the first device, 6 and 9 on the second. The mean is 6.
parts = [replica_loss(np.array([3.0]), 3), replica_loss(np.array([6.0, 9.0]), 3)]
assert parts[0] is not None, "replica_loss returned None. End it with a `return` statement."
assert np.shape(parts[1]) == (), f"one device has one number; yours has the shape {np.shape(parts[1])}: add its losses."
parts = [float(each) for each in parts]
assert parts != [3.0, 7.5], (
    "yours divides by the rows of the device: the parts are 3 and 7.5, and their sum 10.5 is not the mean, 6."
)
assert parts != [3.0, 15.0], "yours are the sums 3 and 15: divide by the number of all rows, 3."
assert parts != [1.0, 2.5], "yours divides twice, by the rows of the device and by B. Divide the sum by B only."
assert np.allclose(parts, [1, 5]), f"the parts are 1 and 5; their sum is 6, the mean of 3, 6, 9; yours {parts}."
assert float(replica_loss(np.zeros(0), 3)) == 0, (
    f"a device without rows adds 0; yours adds {replica_loss(np.zeros(0), 3)}."
)
### BEGIN HIDDEN TESTS
from course.checks import call, is_close

every = np.random.default_rng(8).random(13)
parts = [call(replica_loss, every[i * 13 // 4 : (i + 1) * 13 // 4], 13) for i in range(4)]
assert is_close(parts[0], (every[0] + every[1] + every[2]) / 13), (
    f"three of 13 rows: {every[:3].sum() / 13}; yours {parts[0]}. Compute in float64."
)
total = sum(map(float, parts))
assert abs(total - every.mean()) <= 1e-9, f"13 rows over 4 devices: the mean is {every.mean():.4f}; yours {total:.4f}."
### END HIDDEN TESTS

# %% [markdown]
# ## Further: C. Two branches on two devices (extra credit)
#
# Slices of a batch are one way to use several devices. The other is to put **parts of the network** on different ones.
# The lecture's example has two sequences of 140 time steps, with 256 numbers each. The same LSTM layer, with 64 units,
# encodes both, the first on one device and the second on another. The processor concatenates the two encodings. The
# printed program does not run: `tf.device_scope` must be `tf.device`, and `tweet_a` and `tweet_b` are meant to be the
# inputs, `input_a` and `input_b`. With these two changes it runs. But in Keras 3 its scopes have no effect, as in step
# 3. They must be inside the `call` of a layer.
#
# How long should it take? Write down all tasks with their device, their seconds, and the tasks that each one needs. A
# task starts when everything that it needs is done **and** its device is free. On a device, tasks run in the order of
# the list.
#
# | task | device | seconds | needs |
# |---|---|---|---|
# | a | GPU:0 | 3 | |
# | b | GPU:1 | 5 | |
# | merge | CPU:0 | 1 | a, b |
#
# Here a ends at 3, b at 5, and merge at 6. With both branches on GPU:0, b would begin only at 3 and end at 8, and merge
# would end at 9. The longest chain of tasks that wait for each other is called the **critical path**.


# %% task schedule
def schedule(tasks):
    """When each task ends: a dict from its name to seconds.

    tasks: a list of (name, device, seconds, needs); needs is a list of names of tasks that stand before it.
    """
    # about 6 lines
    ### BEGIN SOLUTION
    ends, free = {}, {}
    for name, device, seconds, needs in tasks:
        start = max([free.get(device, 0), *(ends[need] for need in needs)])
        ends[name] = free[device] = start + seconds
    return ends
    ### END SOLUTION


# %% check schedule extra=3
two = [("a", "GPU:0", 4, []), ("b", "GPU:1", 6, []), ("merge", "CPU:0", 2, ["a", "b"])]
got = schedule(two)
assert got is not None, "schedule returned None. End it with a `return` statement."
assert isinstance(got, dict) and set(got) == {"a", "b", "merge"}, (
    f"schedule returns a dict with a, b, merge; yours {got!r}."
)
got = dict(got)
assert got != {"a": 0, "b": 0, "merge": 6}, "these are the times at which the tasks start: add their seconds."
assert got["merge"] != 2, "merge does not wait in yours: it needs a and b, so it starts when both are done."
assert got["merge"] != 6, "merge starts when a is done in yours: it must wait for the latest task that it needs."
assert got != {"a": 4, "b": 10, "merge": 12}, (
    "b waits for a in yours, but they are on two devices. Each device has its own time at which it is free."
)
assert got == {"a": 4, "b": 6, "merge": 8}, f"a ends at 4, b at 6, merge at 8; yours {got}."
got = dict(schedule([("a", "GPU:0", 4, []), ("b", "GPU:0", 6, []), ("merge", "CPU:0", 2, ["a", "b"])]))
assert got != {"a": 4, "b": 6, "merge": 8}, "a and b are on the same device here: b starts when GPU:0 is free, at 4."
assert got == {"a": 4, "b": 10, "merge": 12}, f"on one device a ends at 4, b at 10, merge at 12; yours {got}."
### BEGIN HIDDEN TESTS
from course.checks import call

long = [
    ("a", "GPU:0", 2, []), ("b", "GPU:1", 7, []), ("c", "GPU:0", 4, []), ("d", "GPU:0", 1, ["b"]),
    ("e", "GPU:1", 2, ["a"]), ("f", "CPU:0", 3, ["d", "e", "c"]), ("g", "GPU:1", 1, []),
]  # fmt: skip
got = dict(call(schedule, long))
right = {"a": 2, "b": 7, "c": 6, "d": 8, "e": 9, "f": 12, "g": 10}
assert got == right, f"seven tasks on three devices end at {right}; yours {got}."
assert dict(schedule([])) == {}, "no task: an empty dict."
### END HIDDEN TESTS

# %% [markdown]
# And what does a trace say? Operations on one device may overlap, because a processor with two cores works on two of
# them at a time. So the seconds during which a device was **busy** are not the sum of its operations. They are the
# length that all intervals cover together, where overlapping parts count once. The intervals (0, 2), (1, 4) and (6, 7)
# cover 4 + 1 = 5 seconds. Sort the intervals by their start, keep track of the latest end so far, and add what lies
# beyond it.


# %% task busy
def busy(operations, device):
    """For how many seconds at least one operation was running on `device`; operations as in step 3, in any order."""
    # about 7 lines
    ### BEGIN SOLUTION
    seconds, latest = 0.0, float("-inf")
    mine = [(each["start"], each["end"]) for each in operations if each["device"] == device]
    for start, end in sorted(mine):
        if end > latest:
            seconds += end - max(start, latest)
            latest = end
    return seconds
    ### END SOLUTION


# %% check busy extra=2


def log_of(*intervals):
    """Operations with these (device, start, end)."""
    return [{"device": d, "kind": "MatMul", "name": "m", "start": float(s), "end": float(e)} for d, s, e in intervals]


log = log_of(("CPU:1", 7, 9), ("CPU:1", 0, 2), ("CPU:2", 0, 12), ("CPU:1", 1, 5))
got = busy(log, "CPU:1")
assert got is not None, "busy returned None. End it with a `return` statement."
got = float(got)
assert abs(got - 8) > 1e-9, "8 is the sum of the lengths: from 1 to 2 two operations ran, and that second counts once."
assert abs(got - 9) > 1e-9, "9 is the time from the first start to the last end, but from 5 to 7 nothing ran."
assert abs(got - 12) > 1e-9 and abs(got - 20) > 1e-9, (
    "yours counts operations of other devices: select those of `device`."
)
assert abs(got - 7) <= 1e-9, f"(0, 2), (1, 5) and (7, 9) cover 7 seconds; yours {got:g}."
got = float(busy(log_of(("CPU:1", 0, 10), ("CPU:1", 2, 3), ("CPU:1", 5, 11)), "CPU:1"))
assert abs(got - 11) <= 1e-9, (
    f"(2, 3) lies within (0, 10), and (5, 11) ends 1 later: 11 seconds; yours {got:g}. Keep the latest end so far."
)
assert float(busy(log, "CPU:3")) == 0, "a device that ran nothing was busy for 0 seconds."
### BEGIN HIDDEN TESTS
import numpy as np

from course.checks import call, is_close

got = float(call(busy, log_of(("A", 3, 4), ("A", 4, 5), ("A", 3, 4), ("A", 9, 9), ("A", 20, 22)), "A"))
assert abs(got - 4) <= 1e-9, f"intervals that touch, one twice and an empty one: 4 seconds; yours {got:g}."
rng = np.random.default_rng(2)
starts, lengths = rng.integers(0, 90, 30), rng.integers(1, 5, 30)
running = {third for start, length in zip(starts, lengths, strict=True) for third in range(start, start + length)}
got = busy(
    log_of(*[("A", start / 3, (start + length) / 3) for start, length in zip(starts, lengths, strict=True)]), "A"
)
assert is_close(got, len(running) / 3), f"30 intervals at random: {len(running) / 3} seconds; yours {got}."
### END HIDDEN TESTS

# %% measure
# Measurement (not graded): both branches on one device, then on two. Change `rows`.
rows = 64
tf, keras, names = tools()
xs = [tf.constant(np.random.default_rng(i).random((rows, 140, 256)), tf.float32) for i in (0, 1)]
shared_lstm = keras.layers.LSTM(64)
shared_lstm(xs[0])  # makes its weights


def branches(device_a, device_b):
    """The lecture's model: a shared LSTM on two sequences, each on its device, merged on the host."""
    input_a, input_b = keras.Input((140, 256)), keras.Input((140, 256))
    encoded = [placed(shared_lstm, device_a)(input_a), placed(shared_lstm, device_b)(input_b)]
    merged = placed(keras.layers.Concatenate(), HOST)(encoded)
    model = keras.Model([input_a, input_b], merged)
    return tf.function(lambda both: model(both))


runs = {}
for name, on in {"one device": (names[1], names[1]), "two devices": (names[1], names[2])}.items():
    graph = branches(*on)
    graph(xs)  # the first call makes the graph
    runs[name] = trace(graph, xs)
    print(f"{name}: matrix products {count_by_device(runs[name], 'MatMul')}, busy", end="")
    print(*[f" {device} {1e3 * busy(runs[name], device):.0f} ms" for device in names[:3]], sep=",", end="")
    print(f", in total {1e3 * max(each['end'] for each in runs[name]):.0f} ms")

# what your schedule predicts, from a trace of one branch alone
alone = trace(tf.function(lambda x: run_on(shared_lstm, x, names[1])), xs[0])
branch = max(each["end"] for each in alone)
for name, second in {"one device": names[1], "two devices": names[2]}.items():
    tasks = [("a", names[1], branch, []), ("b", second, branch, []), ("merge", HOST, 0, ["a", "b"])]
    print(f"{name}: {1e3 * schedule(tasks)['merge']:.0f} ms by the schedule, if the devices share nothing")
display(runs["one device"].timeline("Both branches on one device"))
runs["two devices"].timeline("Each branch on a different device")

# %% [markdown]
# An LSTM is a chain: each of its 140 time steps needs the one before, so a second device cannot shorten a branch. Two
# branches can run side by side. How close your run comes to the schedule depends on the machine. Logical CPUs share the
# cores, and a single matrix product may already use all of them. A logical CPU is also less strict than the schedule:
# it runs two operations at the same time if they do not need each other. A GPU usually runs its operations one after
# the other. (White gaps in the pictures need not be idle time: in a loop the profiler leaves out very short
# operations.)
#
# ## Further: D. What changes on real GPUs
#
# With two GPUs or more, each of the four names is a card, or part of one. The code above stays the same. Expected, not
# measured:
#
# - The small networks of this lab become slower: starting an operation on a GPU takes some microseconds, and each slice
#   starts all operations again.
# - `multi_gpu_model` sends all weights from the device that has them to all others in each step. MirroredStrategy sends
#   gradients only, with NCCL directly between cards, if you leave out `cross_device_ops`.
# - A network's weights are made on `GPU:0`, unless you build it under `with tf.device("/cpu:0"):` or call
#   `multi_gpu_model` with `cpu_relocation=True`.
# - Four logical GPUs on one card share it, as logical CPUs share cores: useful for trying things out, and not faster.

# %% measure
# Demonstration (not graded): the devices of this machine.
tf, keras, names = tools()
print("GPUs:", len(tf.config.list_physical_devices("GPU")), " devices in this lab:", ", ".join(names))
model = wide()
print("weights before:", {weight.value.device.rpartition("device:")[2] for weight in model.weights})
multi_gpu_model(model, cpu_relocation=True)
print("with cpu_relocation=True:", {weight.value.device.rpartition("device:")[2] for weight in model.weights})

# %% [markdown]
# ## Hand in
#
# The button saves this notebook and hands it in. You may hand in again as often as you like.

# %% measure hand-in
from course import hand_in

hand_in.button("07-devices")
