# %% [markdown]
# # Lab 7: Several devices in one process
#
# So far each rank was a process of its own. A machine with several GPUs can also be used from **one** process: Keras
# had a function for it, `multi_gpu_model`, TensorFlow has `MirroredStrategy`, and with device scopes you may put each
# part of a network where you like. In this lab you build the first, use the second, and find out from a trace whether
# the third does what it says. You need no GPU: the processor is divided into logical devices.
#
# **After this lab you can**
#
# - cut a batch of any size over any number of devices, and put the outputs together again;
# - prove on which device each operation of a network ran, and say why a device scope so often does nothing;
# - write `multi_gpu_model`, and run a program for it that is older than Keras 3;
# - say when an F1 score is nonsense, and compute it rightly;
# - train with MirroredStrategy, with the same losses as on one device;
# - predict from a trace how long two branches take on two devices.
#
# | step | what | minutes |
# |---|---|---|
# | 1 | a slice for each device | 6 |
# | 2 | cut, run, concatenate | 8 |
# | 3 | where did it run? | 9 |
# | 4 | a layer that keeps its place | 8 |
# | 5 | your own multi_gpu_model | 13 |
# | 6 | a program of 2019, and its F1 score | 10 |
# | 7 | MirroredStrategy | 12 |
# | 8 | two branches and a shared LSTM | 14 |
# | 9 | a measurement of your own, two questions, GPUs | 8 |
#
# Lab 3 gave you the network and its gradient in Keras. You need nothing else from earlier labs.
#
# The programs follow Lei Dong's lecture *Distributed Deep Learning* (lesson 3): `multi_gpu_model` on MNIST, and two
# sequences through a shared LSTM. $B$ is the number of rows of a batch, $N$ the number of devices.
#
# **In every task**, unless its text says otherwise: your function leaves its arguments as they are, returns a new array,
# and keeps float64 where it gets float64, which checks compare to 9 digits. TensorFlow computes in float32 here.

# %%
# %load_ext course
import numpy as np

from course import data, plots
from course.keras import logical_devices, multi_gpu_model, quiet_import, slices, trace

HOST = "CPU:0"  # the processor, which holds the data and the weights


def tools():
    """TensorFlow, Keras, and the names of four devices. Takes some seconds the first time."""
    names = logical_devices(4)
    return *quiet_import(), names


# %% [markdown]
# ## Step 1. A slice for each device
#
# **Data parallel** means: each device gets a slice of the batch and has all the weights. Slice $i$ of $N$, counted from
# 0, has the rows from $b_i$ up to, and without, $b_{i+1}$:
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
got = cut(11, 4)
assert got is not None, "cut gave back nothing: its last line must begin with `return`."
got = [tuple(each) if isinstance(each, (list, tuple)) else each for each in got]
assert got != [0, 2, 5, 8, 11], "these are the five edges. A slice is a pair: (0, 2), (2, 5), (5, 8), (8, 11)."
assert all(isinstance(each, tuple) and len(each) == 2 for each in got), f"a list of pairs (begin, end); yours {got}."
assert len(got) != 5, "five slices for four devices: i goes from 0 to N - 1."
assert got != [(0, 2), (2, 4), (4, 6), (6, 8)], (
    "rows 8, 9 and 10 are in no slice: B // N rows each is too few when N does not divide B. Multiply first: i * B // N."
)
assert got != [(0, 2), (2, 4), (4, 6), (6, 11)], (
    "the last device has 5 rows and the others 2: all wait for it. Multiply first, then divide: i * B // N."
)
assert got != [(0, 1), (2, 4), (5, 7), (8, 10)], "x[begin:end] leaves `end` out, so end is where the next slice begins."
assert got != [(0, 3), (3, 6), (6, 9), (9, 11)], "the formula rounds down: 11 / 4 = 2.75 gives 2, not 3."
assert got == [(0, 2), (2, 5), (5, 8), (8, 11)], f"11 rows over 4: (0, 2), (2, 5), (5, 8), (8, 11); yours {got}."
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
# slices. If $f$ treats each row by itself, as a network does, then
#
# $$ \mathrm{concat}\bigl( f(x_{b_0 : b_1}), \dots, f(x_{b_{N-1} : b_N}) \bigr) = f(x) $$
#
# An empty slice is given to nobody: skip it. `np.concatenate(parts)` takes a list of arrays whose numbers of rows may
# differ. A working version of step 1 is there for you as `slices(B, N)`.


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
    assert rows.ndim == 2, f"f got the shape {rows.shape}: give it rows, x[begin:end], also where it is one row."
    calls.append(rows[:, 0].tolist())
    assert len(rows), "f got a slice without rows: skip it."
    return rows**2


def tried(B, N):
    """Check B rows over N devices."""
    calls.clear()
    x = np.stack([np.arange(1.0, B + 1), -np.arange(1.0, B + 1)], axis=1)
    got = call(in_slices, squares, x, N)
    assert calls, "f was never called."
    assert got is not None, "in_slices gave back nothing: its last line must begin with `return`."
    assert N == 1 or B == 1 or calls[0] != x[:, 0].tolist(), (
        "f got the whole batch: give it x[begin:end] of each slice."
    )
    edges = [i * B // N for i in range(N + 1)]
    right = [x[edges[i] : edges[i + 1], 0].tolist() for i in range(N) if edges[i + 1] > edges[i]]
    assert calls == right, (
        f"{B} rows over {N} devices: f gets the rows {right}, one slice after another; yours {calls}."
    )
    if isinstance(got, list):
        raise AssertionError("a list came back. np.concatenate makes one array of it.")
    got = np.asarray(got, dtype=float)
    flipped = np.concatenate([x[edges[i] : edges[i + 1]] ** 2 for i in reversed(range(N))])
    assert got.shape != x.T.shape or N == 1 or B == 2, "concatenate along the rows: the first axis."
    assert got.shape == x.shape, f"{B} rows go in and {B} come out, shape {x.shape}; yours has {got.shape}."
    assert N == 1 or B < 3 or not np.array_equal(got, flipped), "the slices come out in reverse: keep their order."
    assert np.array_equal(got, x**2), f"of {B} rows over {N} devices f(x) is\n{x**2}\nyours\n{got}"


tried(11, 4)
tried(2, 4)
### BEGIN HIDDEN TESTS
for B_now, N_now in [(1, 3), (12, 3), (5, 1), (13, 4), (7, 8)]:
    tried(B_now, N_now)
thirds = np.arange(1.0, 8.0).reshape(7, 1) / 3
got = call(in_slices, lambda rows: np.asarray(rows, dtype=float) + 1, thirds, 3)
assert is_close(got, thirds + 1), "f returned float64, and digits are lost: only concatenate what f returns."
### END HIDDEN TESTS
assert tried(4, 2) is None, "a last case: four rows, two devices."

# %% [markdown]
# ## Step 3. Where did it run?
#
# A machine's devices have names: `CPU:0` is the processor, `GPU:0` and `GPU:1` the first two GPUs. Here you work with
# four **logical devices**. Without a GPU the processor is divided into four logical CPUs: for TensorFlow they are as
# separate as four cards, and only the cores are shared. One GPU is divided into four logical GPUs. Everything below
# reads the same either way. The next cell makes them, and says what was made. (TensorFlow does this once in a process,
# before its first tensor. To change the number you restart the kernel.)

# %% measure
# For show: takes some seconds, for TensorFlow is imported.
tf, keras, names = tools()
print("TensorFlow", tf.__version__, " Keras", keras.__version__)

# %% [markdown]
# You say where something is to run by a **device scope**: `with tf.device("CPU:1"):`. Dong's lecture puts such scopes
# around the calls of layers (it prints `tf.device_scope`, which does not exist; the name is `tf.device`). Do they work?
# Never assume it. `trace(function, x)` runs the function under TensorFlow's own profiler and returns a list: one dict
# for each operation that ran.
#
# | key | for example | what it is |
# |---|---|---|
# | `"device"` | `"CPU:1"` | where it ran |
# | `"kind"` | `"MatMul"` | what was computed: a product of matrices |
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
assert got is not None, "count_by_device gave back nothing: its last line must begin with `return`."
assert isinstance(got, dict), f"a dict from device to number came to be expected; yours is {got!r}."
got = dict(got)
assert got != {"CPU:1": 3, "CPU:2": 1, "CPU:0": 1}, "you counted all operations: look at each one's kind."
assert got != {"CPU:1": 1, "CPU:2": 1}, "CPU:1 ran two products, and yours says 1: add to the count that is there."
assert got != {"MatMul": 3}, "3 products ran on all devices together: count each device by itself."
assert got != {"CPU:1": 2, "CPU:2": 1, "CPU:0": 0}, "CPU:0 ran no product: leave it out."
assert got == {"CPU:1": 2, "CPU:2": 1}, f"CPU:1 ran two products and CPU:2 one; yours {got}."
### BEGIN HIDDEN TESTS
from course.checks import call

assert dict(call(count_by_device, log, "Softmax")) == {"CPU:1": 1}, "one Softmax ran, on CPU:1."
assert dict(count_by_device(log, "Tanh")) == {}, "no Tanh ran: the dict is empty."
assert dict(count_by_device([], "MatMul")) == {}, "nothing ran: the dict is empty."
more = [{"device": f"GPU:{i % 3}", "kind": "MatMul", "name": "m", "start": i, "end": i + 1} for i in range(11)]
got = dict(count_by_device(more, "MatMul"))
assert got == {"GPU:0": 4, "GPU:1": 4, "GPU:2": 3}, f"eleven in turn on three GPUs are 4, 4 and 3; yours {got}."
### END HIDDEN TESTS

# %% measure
# For show: the lecture's way, scopes around the calls of layers. Where do the products run?
tf, keras, names = tools()
inputs = keras.Input((20,))
with tf.device(names[1]):
    left = keras.layers.Dense(30)(inputs)
with tf.device(names[2]):
    right = keras.layers.Dense(30)(inputs)
scoped = keras.Model(inputs, keras.layers.concatenate([left, right]))
print("asked for:", {names[1]: 1, names[2]: 1})
print("ran on:   ", count_by_device(trace(tf.function(scoped), tf.ones((8, 20))), "MatMul"))

# %% [markdown]
# Both products ran on one device, and not on those that the scopes name. Nothing complained. The reason: here
# `Dense(30)(inputs)` computes nothing. It only notes that there is to be such a layer. The product of matrices is made
# later, when the model is called, and then the scope is gone.
#
# ## Step 4. A layer that keeps its place
#
# The cure follows: enter the scope where the operations are made, each time the layer is called. The class below is a
# Keras layer around another one. When it is called it calls your function `run_on`.


# %%
def placed(layer, device, run_on):
    """A Keras layer that does what `layer` does, by run_on(layer, x, device)."""
    _, keras, _ = tools()

    class Placed(keras.layers.Layer):
        def __init__(self):
            super().__init__()
            self.layer = layer

        def call(self, x):
            return run_on(self.layer, x, device)

    return Placed()


def try_branches(run_on, x, left, right):
    """Two products on the second and third device, concatenated on the host: what came out, and where it ran.

    x: shape (rows, p). left, right: matrices, shape (p, units) each. Returns None where run_on returns nothing.
    """
    tf, keras, names = tools()
    layers = [keras.layers.Dense(matrix.shape[1], use_bias=False) for matrix in (left, right)]
    for layer, matrix in zip(layers, (left, right), strict=True):
        layer.build(x.shape)
        layer.set_weights([matrix])
    if run_on(layers[0], tf.constant(x, tf.float32), names[1]) is None:
        return None
    inputs = keras.Input(x.shape[1:])
    parts = [placed(layer, name, run_on)(inputs) for layer, name in zip(layers, names[1:3], strict=True)]
    model = keras.Model(inputs, placed(keras.layers.Concatenate(), HOST, run_on)(parts))
    graph, x = tf.function(model), tf.constant(x, tf.float32)
    ran = [[each["kind"], each["device"]] for each in trace(graph, x)]
    return {"outputs": graph(x).numpy(), "asked": list(names[1:3]), "ran": ran}


# %% task run-on
def run_on(layer, x, device):
    """layer(x), with its operations on `device`."""
    tf, _, _ = tools()
    # about 2 lines
    ### BEGIN SOLUTION
    with tf.device(device):
        return layer(x)
    ### END SOLUTION


# %% check run-on points=2
import numpy as np

x = np.arange(6.0).reshape(2, 3)
left, right = np.array([[1.0], [0.0], [2.0]]), np.array([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
got = try_branches(run_on, x, left, right)
assert got is not None, "run_on gave back nothing: return what layer(x) gives."
outputs = np.asarray(got["outputs"], dtype=float)
expected = np.concatenate([x @ left, x @ right], axis=1)
assert outputs.shape == expected.shape and np.allclose(outputs, expected), (
    f"x times the two matrices, side by side, is\n{expected}\nyours\n{outputs}\nCall the layer once, and change nothing."
)
asked, ran = list(got["asked"]), [tuple(each) for each in got["ran"]]
products = sorted(device for kind, device in ran if kind == "MatMul")
merged = [device for kind, device in ran if kind == "ConcatV2"]
assert products != ["CPU:0"] * 2 and products != ["GPU:0"] * 2, (
    f"both products ran on {products[0]}, where no scope is: call the layer inside `with tf.device(device):`, not before."
)
assert len(set(products)) == 2, f"both products ran on {products[0]}: the scope takes `device`, not a fixed name."
assert products == sorted(asked), f"the products were to run on {asked}, and ran on {products}."
assert merged == ["CPU:0"], f"the outputs were to be concatenated on CPU:0; yours on {merged}."

# %% [markdown]
# ## Step 5. Your own multi_gpu_model
#
# Now put steps 2 and 4 together. Each slice of the batch goes through the **same** model, and so through the same
# weights, on a device of its own. The host concatenates. When Keras makes a graph, the number of rows is not known
# yet, so it is a tensor: `tf.shape(x)[0]`. The function `slices` takes tensors as well.
#
# You need: `x[begin:end]`, `model(...)`, `with tf.device(...)`, and `tf.concat(parts, axis=0)`. Here an empty slice
# is no special case: the model gives back no rows, and concatenating them adds nothing.


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
    """Call replicate on each batch of xs, with three devices: the outputs, and where the first batch's operations ran."""
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
assert got is not None, "replicate gave back nothing: return the concatenated outputs."
for x, outputs in zip(xs, got["outputs"], strict=True):
    outputs = np.asarray(outputs, dtype=float)
    expected = np.maximum(x @ weights[0] + weights[1], 0) @ weights[2] + weights[3]
    B_now = len(x)
    edges = [i * B_now // 3 for i in range(4)]
    turned = np.concatenate([expected[edges[i] : edges[i + 1]] for i in (2, 1, 0)])
    assert outputs.shape != (3 * B_now, 3), "every device computed the whole batch: give each its slice, x[begin:end]."
    assert outputs.shape == expected.shape, (
        f"{B_now} rows over 3 devices: the outputs have the shape {expected.shape}; yours {outputs.shape}. Is every slice "
        "there, and are they concatenated along the rows, axis=0?"
    )
    assert B_now < 3 or not np.allclose(outputs, turned, atol=1e-5), "the slices come out in reverse: keep their order."
    assert np.allclose(outputs, expected, atol=1e-5), (
        f"{B_now} rows over 3 devices: the model itself gives\n{expected}\nyours\n{outputs}"
    )

# %% check replicate-places points=2
import numpy as np

weights = [np.ones(shape) for shape in [(5, 4), (4,), (4, 3), (3,)]]
got = try_replicas(replicate, [np.ones((7, 5))], weights)
assert got is not None, "replicate gave back nothing: return the concatenated outputs."
devices, ran = list(got["devices"]), [tuple(each) for each in got["ran"]]
products = {name: ran.count(("MatMul", name)) for name in ["CPU:0", "GPU:0", *devices] if ("MatMul", name) in ran}
merged = [device for kind, device in ran if kind == "ConcatV2"]
assert set(products) != {"CPU:0"} and set(products) != {"GPU:0"}, (
    f"all products ran on {next(iter(products), 'no device')}: call model(...) inside `with tf.device(device):`."
)
assert set(products) == set(devices), f"products were to run on {devices}, and ran on {sorted(products)}."
assert set(products.values()) == {2}, f"the network has two layers, so two products a device; yours {products}."
assert merged == ["CPU:0"], f"concatenate on HOST, CPU:0, inside its own `with tf.device(HOST):`; yours on {merged}."

# %% measure
# For show: a step of training with your function. Which device computes what, forward and for the gradient?
from IPython.display import display

tf, keras, names = tools()


def wide():
    """A network for a picture: 784 inputs, 1024 hidden units."""
    rng = np.random.default_rng(1)
    return network([rng.normal(0, 0.03, shape) for shape in [(784, 1024), (1024,), (1024, 10), (10,)]])


def places(model):
    """A trace of one step of training, and how many products each device computed in it, forward and backward."""
    x, y = np.random.default_rng(2).random((300, 784), dtype=np.float32), np.arange(300) % 10
    model.compile("sgd", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    model.train_on_batch(x, y)
    ran = trace(model.train_on_batch, x, y)
    gradient = [each for each in ran if "gradient_tape" in each["name"]]
    forward = [each for each in ran if "gradient_tape" not in each["name"]]
    print("products forward:         ", count_by_device(forward, "MatMul"))
    print("products for the gradient:", count_by_device(gradient, "MatMul"))
    return ran


display(places(parallel(wide(), names[1:], replicate)).timeline("A step of training with your replicate"))

# %% [markdown]
# Forward, your three devices share the work. But the gradient, which is the larger part of the work, was computed on one
# device alone. It is the trap of step 3 again: the operations of the gradient are made when `fit` asks for the gradient, and
# then your scopes are closed. TensorFlow puts these operations where the weights are. Your model gives the right
# numbers, and three devices idle while one works.
#
# The course's `multi_gpu_model` opens the scope a second time, for the gradient. Otherwise it is your function. It also
# gives an empty slice a row to compute and throws the output away, since a layer that takes means would make nan of no
# rows.

# %% measure
# For show: the same step with the course's function.
display(places(multi_gpu_model(wide(), gpus=4)).timeline("A step of training with multi_gpu_model"))

# %% [markdown]
# ## Step 6. A program of 2019, and its F1 score
#
# `keras.utils.multi_gpu_model` left TensorFlow with version 2.4. Programs that use it are still around. Dong's lecture
# trains a convolutional network on MNIST with it. With the course's function these lines of it change, and no other:
#
# | in the lecture | here | why |
# |---|---|---|
# | `import tensorflow as tf` | `tf, keras, names = tools()` | the devices must be made before the first tensor |
# | `from keras.utils import multi_gpu_model` | `from course.keras import multi_gpu_model` | it is no longer in Keras |
# | `(x_train, y_train), (x_test, y_test) = mnist.load_data()` | `... = digits(2000)` | no network is needed; the labels come as a column of floats, as Keras 2 gave them to a metric |
#
# The lecture's other program, with `cpu_relocation=True`, needs the same lines and nothing else. If there are too few
# devices `multi_gpu_model` raises `ValueError`, so that the `except` of both programs works: they train on one device.
# The next cell is a program of that shape.


# %%
def digits(rows):
    """MNIST as `keras.datasets.mnist.load_data` gives it, from a package: so many rows to train on, 1,000 held out.

    Returns (x, y), (x_held, y_held): x of shape (rows, 28, 28), 0 to 255; y of shape (rows, 1), floats.
    """
    mnist = data.load("mnist-5000")
    shuffled = np.random.default_rng(6).permutation(5000)
    x, y = mnist["pixels"][shuffled].reshape(-1, 28, 28), mnist["digit"][shuffled].astype(np.float32)[:, None]
    return (x[:rows], y[:rows]), (x[4000:], y[4000:])


# %% measure
# For show: the lecture's network on two devices. Takes half a minute.
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
    """The F1 score as the lecture has it: both sums over all that is there."""
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
step = trace(pmodel.train_on_batch, x_train[:100], y_train[:100])
print("one step of training:")
for kind in sorted({each["kind"] for each in step if each["kind"].startswith("Conv2D")}):
    print(f"  {kind}:", count_by_device(step, kind))

# %% [markdown]
# An F1 score of 1.6? It cannot be above 1. Look at what is multiplied: `y_true` holds the digits themselves, 0 to 9, and
# `y_pred` ten probabilities whose sum is 1. So the sum of the products is the sum of the digits, whatever the network
# says: the "precision" is always 1, and the "recall" is the mean digit, 4.47. The score never changes while the network
# learns. (It also has the two names the wrong way round.)
#
# The F1 score belongs to **one class** $k$. Compare the digits $y$ with those that were read:
#
# $$ \mathrm{TP}_k: \text{ is } k \text{ and was read as } k, \quad \mathrm{FP}_k: \text{ is not, but was read as } k,
# \quad \mathrm{FN}_k: \text{ is } k \text{, but was not read as } k $$
#
# $$ F_{1,k} = \frac{2 \, \mathrm{TP}_k}{2 \, \mathrm{TP}_k + \mathrm{FP}_k + \mathrm{FN}_k}, \qquad
# F_1 = \frac{1}{K} \sum_{k=0}^{K-1} F_{1,k} $$
#
# The average over all $K$ classes is called macro-F1. A class that neither is there nor was read counts 0. By hand, with
# $K = 3$, $y$ = 0 0 1 1 2, read as 0 1 1 1 0: class 0 has TP = 1, FP = 1, FN = 1, so ½. Class 1 has 2, 1, 0, so 4/5.
# Class 2 has 0, 0, 1, so 0. The average is 13/30.


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


# %% check f1 points=2
import numpy as np

y, read = np.array([0, 0, 1, 1, 2]), np.array([0, 1, 1, 1, 0])
got = f1(y, read, 3)
assert got is not None, "f1 gave back nothing: its last line must begin with `return`."
assert np.shape(got) != (3,), "one score for each class came back: take their average."
assert np.shape(got) == (), f"one number; yours has the shape {np.shape(got)}."
got = float(got)
assert abs(got - 3 / 5) > 1e-9, "3/5 is the share that was read rightly. F1 is computed class by class, then averaged."
assert abs(got - 13 / 20) > 1e-9, "class 2 was never read: it counts 0, and the average is over all K = 3 classes."
assert abs(got - (1 / 2 + 2 / 3) / 3) > 1e-9, "this is the average precision, TP / (TP + FP): FN is missing."
assert abs(got - (1 / 2 + 1) / 3) > 1e-9, "this is the average recall, TP / (TP + FN): FP is missing."
assert abs(got - (1 / 3 + 2 / 3) / 3) > 1e-9, "the factor 2 is missing: 2 TP above, and 2 TP + FP + FN below."
assert abs(got - (2 * 1 / 2 + 2 * 4 / 5) / 5) > 1e-9, "here every class counts the same, however many rows it has."
assert abs(got - 13 / 30) <= 1e-9, f"by hand (1/2 + 4/5 + 0) / 3 = 13/30 = 0.4333; yours {got:.4f}."
got = float(f1(np.array([0, 0, 2]), np.array([0, 0, 2]), 4))
assert not np.isnan(got), "a class that neither is there nor was read gave 0 / 0: it counts 0."
assert abs(got - 0.5) <= 1e-9, f"two of four classes read rightly, the others not there: 1/2; yours {got:.4f}."
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
# For show: your F1 score of the network above, and of somebody who guesses.
read = np.argmax(pmodel.predict(x_test, verbose=0), axis=1)
guess = np.random.default_rng(0).integers(0, 10, len(read))
print(f"macro-F1 of the network: {f1(y_test[:, 0], read, 10):.3f}; of guessing: {f1(y_test[:, 0], guess, 10):.3f}")

# %% [markdown]
# ## Step 7. MirroredStrategy
#
# With `multi_gpu_model` there is one set of weights, and each step sends it to all devices. Its successor in TensorFlow
# is `tf.distribute.MirroredStrategy`: every device keeps a **copy** of the weights, computes the loss and the gradient
# of its slice, and the gradients are added up by an all-reduce. Then all make the same step. It is what you did with
# ranks, in one process.
#
# One thing is easy to get wrong. The outputs are never put together, so each device has a loss of its own, and these
# are **added**. For the sum to be the mean over the whole batch, each device divides by the number of rows of the whole
# batch, and not by that of its own rows:
#
# $$ R_i = \frac{1}{B} \sum_{j = b_i}^{b_{i+1} - 1} \ell_j, \qquad \sum_i R_i = \frac{1}{B} \sum_{j} \ell_j $$
#
# `fit` does so by itself; in a training loop of your own it is up to you.


# %% task replica-loss
def replica_loss(losses, B):
    """One device's part of the loss: losses of its rows, shape (rows,), of a batch of B rows; a number."""
    # about 1 line
    ### BEGIN SOLUTION
    return np.sum(losses) / B
    ### END SOLUTION


# %% check replica-loss points=2
import numpy as np

# By hand: the losses of a batch of 3 rows, 3 on the first device, 6 and 9 on the second. The mean is 6.
parts = [replica_loss(np.array([3.0]), 3), replica_loss(np.array([6.0, 9.0]), 3)]
assert parts[0] is not None, "replica_loss gave back nothing: its last line must begin with `return`."
assert np.shape(parts[1]) == (), (
    f"one number for a device; yours has the shape {np.shape(parts[1])}: add up its losses."
)
parts = [float(each) for each in parts]
assert parts != [3.0, 7.5], (
    "you divided by the device's own rows: the parts are 3 and 7.5, and their sum 10.5 is no mean. Divide by B."
)
assert parts != [3.0, 15.0], "these are sums, 3 and 15: divide by B = 3."
assert parts != [1.0, 2.5], "each part was divided twice: by the device's rows, and by B. Divide the sum by B alone."
assert np.allclose(parts, [1, 5]), f"the parts are 1 and 5, together 6, the mean of 3, 6, 9; yours {parts}."
assert float(replica_loss(np.zeros(0), 3)) == 0, (
    f"a device without rows adds 0; yours gives {replica_loss(np.zeros(0), 3)}."
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
# In Keras it takes three steps. Make the strategy; **build and compile the model inside its scope**, for there its
# variables are made, one copy a device; then `fit` as ever. `batch_size` is that of the whole batch.
#
#     strategy = tf.distribute.MirroredStrategy(names, cross_device_ops=tf.distribute.ReductionToOneDevice())
#     with strategy.scope():
#         ...
#
# `ReductionToOneDevice` adds up on one device, which works everywhere. With a real GPU for each device leave it out:
# then NCCL does a ring all-reduce. To compare with one device, the batches must be the same: give `fit` `shuffle=False`.
# `fit(...).history["loss"]` is the list of the epochs' losses.


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
    except AssertionError:  # how Keras says, without a word, that a model was built outside the scope
        losses = []
    return {"losses": losses, "copies": copies, "x": x, "y": y, "weights": weights}


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
assert got["losses"] is not None, "mirrored gave back nothing: return the list of losses."
copies = list(got["copies"])
assert copies, "build was never called: the model comes from build()."
assert copies[0] == 2, (
    f"the model was built with {copies[0]} copy of its weights, not 2: call build() inside `with strategy.scope():`, and "
    "give the strategy all the devices."
)
losses = np.asarray(got["losses"], dtype=float)
assert losses.shape == (2,), f"2 epochs, 2 losses; yours has the shape {losses.shape}: fit(...).history['loss']."
x, y, weights = np.asarray(got["x"]), np.asarray(got["y"]), [np.asarray(w) for w in got["weights"]]
right = one_device(x, y, weights, 30, 2)
assert not np.allclose(losses, one_device(x, y, weights, 60, 2), atol=1e-5), (
    "yours trained with batches of 60: B is the whole batch already, and the strategy cuts it. batch_size=B."
)
assert not np.allclose(losses, one_device(x, y, weights, 15, 2), atol=1e-5), (
    "yours trained with batches of 15: B is the whole batch, and the strategy cuts it itself. batch_size=B."
)
assert np.allclose(losses, right, atol=1e-5), (
    f"one device has the losses {np.round(right, 5)}; yours {np.round(losses, 5)}. Are the batches the same: "
    "batch_size=B, and shuffle=False?"
)

# %% measure
# For show: one step of MirroredStrategy on three devices. Compare it with the two pictures of step 5.
tf, keras, names = tools()
strategy = tf.distribute.MirroredStrategy(names[1:], cross_device_ops=tf.distribute.ReductionToOneDevice())
with strategy.scope():
    copied = wide()
display(places(copied).timeline("A step of training with MirroredStrategy"))

# %% [markdown]
# ## Step 8. Two branches and a shared LSTM
#
# Slices of a batch are one way to use several devices. The other is to put **parts of the network** on different ones.
# The lecture's example has two sequences, of 140 steps with 256 numbers each. The same LSTM, with 64 units, encodes
# both, the first on one device and the second on another. The processor concatenates the two encodings. As printed it
# does not run: `tf.device_scope` must be `tf.device`, and `tweet_a` and `tweet_b` are meant to be the inputs, `input_a`
# and `input_b`. With these two changes it runs, but as step 3 has shown, its scopes place nothing. They belong into a
# layer.
#
# How long should it take? Write down all tasks with their seconds, their device, and what each must wait for. A task
# starts when everything that it needs is done **and** its device is free. On a device, tasks run in the order of the
# list.
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


# %% check schedule points=3
two = [("a", "GPU:0", 3, []), ("b", "GPU:1", 5, []), ("merge", "CPU:0", 1, ["a", "b"])]
got = schedule(two)
assert got is not None, "schedule gave back nothing: its last line must begin with `return`."
assert isinstance(got, dict) and set(got) == {"a", "b", "merge"}, f"a dict with a, b and merge; yours {got!r}."
got = dict(got)
assert got != {"a": 0, "b": 0, "merge": 5}, "these are the times at which the tasks start: add their seconds."
assert got["merge"] != 1, "merge did not wait: it needs a and b, so it starts when both are done."
assert got["merge"] != 4, "merge began when a was done: it waits for all that it needs, for the latest of them."
assert got != {"a": 3, "b": 8, "merge": 9}, "b waited for a. They are on two devices, and each device has its own time."
assert got == {"a": 3, "b": 5, "merge": 6}, f"a ends at 3, b at 5, merge at 6; yours {got}."
got = dict(schedule([("a", "GPU:0", 3, []), ("b", "GPU:0", 5, []), ("merge", "CPU:0", 1, ["a", "b"])]))
assert got != {"a": 3, "b": 5, "merge": 6}, "a and b are on the same device: b starts when GPU:0 is free, at 3."
assert got == {"a": 3, "b": 8, "merge": 9}, f"on one device a ends at 3, b at 8, merge at 9; yours {got}."
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
# And what does a trace say? Operations of one device may overlap, for a processor with two cores works on two of them
# at a time. So the seconds during which a device was **busy** are not the sum of its operations. They are the length of
# all intervals together, where what overlaps counts once. The intervals (0, 2), (1, 4) and (6, 7) make 4 + 1 = 5
# seconds. Sort them by their start; keep the latest end so far; what lies beyond it is new.


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


# %% check busy points=2


def log_of(*intervals):
    """Operations with these (device, start, end)."""
    return [{"device": d, "kind": "MatMul", "name": "m", "start": float(s), "end": float(e)} for d, s, e in intervals]


log = log_of(("CPU:1", 6, 7), ("CPU:1", 0, 2), ("CPU:2", 0, 9), ("CPU:1", 1, 4))
got = busy(log, "CPU:1")
assert got is not None, "busy gave back nothing: its last line must begin with `return`."
got = float(got)
assert abs(got - 6) > 1e-9, "6 is the sum of the lengths: from 1 to 2 two operations ran, and it counts once."
assert abs(got - 7) > 1e-9, "7 is the time from the first start to the last end: from 4 to 6 nothing ran."
assert abs(got - 9) > 1e-9 and abs(got - 15) > 1e-9, "look at the operations of this device alone."
assert abs(got - 5) <= 1e-9, f"(0, 2), (1, 4) and (6, 7) make 5 seconds; yours {got:g}."
got = float(busy(log_of(("CPU:1", 0, 10), ("CPU:1", 2, 3), ("CPU:1", 5, 11)), "CPU:1"))
assert abs(got - 11) <= 1e-9, (
    f"(2, 3) lies within (0, 10), and (5, 11) reaches 1 beyond it: 11 seconds; yours {got:g}. Keep the latest end so far."
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
# For show: both branches on one device, then on two. Change `rows`.
rows = 64
tf, keras, names = tools()
xs = [tf.constant(np.random.default_rng(i).random((rows, 140, 256)), tf.float32) for i in (0, 1)]
lstm = keras.layers.LSTM(64)
lstm(xs[0])  # makes its weights


def branches(device_a, device_b):
    """The lecture's model: a shared LSTM on two sequences, each on its device, merged on the host."""
    input_a, input_b = keras.Input((140, 256)), keras.Input((140, 256))
    encoded = [placed(lstm, device_a, run_on)(input_a), placed(lstm, device_b, run_on)(input_b)]
    merged = placed(keras.layers.Concatenate(), HOST, run_on)(encoded)
    model = keras.Model([input_a, input_b], merged)
    return tf.function(lambda both: model(both))


runs = {}
for name, on in {"one device": (names[1], names[1]), "two devices": (names[1], names[2])}.items():
    graph = branches(*on)
    graph(xs)  # once for nothing
    runs[name] = trace(graph, xs)
    print(f"{name}: products of matrices {count_by_device(runs[name], 'MatMul')}, busy", end="")
    print(*[f" {device} {1e3 * busy(runs[name], device):.0f} ms" for device in names[:3]], sep=",", end="")
    print(f", in all {1e3 * max(each['end'] for each in runs[name]):.0f} ms")

# what your schedule says, from a trace of one branch alone
alone = trace(tf.function(lambda x: run_on(lstm, x, names[1])), xs[0])
branch = max(each["end"] for each in alone)
for name, second in {"one device": names[1], "two devices": names[2]}.items():
    tasks = [("a", names[1], branch, []), ("b", second, branch, []), ("merge", HOST, 0, ["a", "b"])]
    print(f"{name}: {1e3 * schedule(tasks)['merge']:.0f} ms by the schedule, if the devices shared nothing")
display(runs["one device"].timeline("Both branches on one device"))
runs["two devices"].timeline("Each branch on a device of its own")

# %% [markdown]
# An LSTM is a chain: each of its 140 steps needs the one before, so no device can shorten a branch. Two branches can
# run side by side. How near your run comes to the schedule depends on the machine. Logical CPUs share the cores, and a
# single product of matrices may already use all of them. Nor is one logical CPU as strict as the schedule: where two
# operations do not need each other, it runs them at the same time. A GPU works through its operations one by one.
# (White gaps in the pictures need not be idle time: in a loop the profiler leaves out operations that are very short.)
#
# ## Step 9. A measurement of your own, and questions
#
# **Find out from how many rows on two devices pay off.** Write down a guess first. Then try `rows` from 1 to a few
# hundred, and look at the time of both ways. Each number is a single run: repeat what surprises you.

# %% measure
# For show: your numbers of rows go here.
import time

for rows in (4, 32, 128):
    xs = [tf.constant(np.random.default_rng(i).random((rows, 140, 256)), tf.float32) for i in (0, 1)]
    seconds = {}
    for name, on in {"one": (names[1], names[1]), "two": (names[1], names[2])}.items():
        graph = branches(*on)
        graph(xs)
        begin = time.perf_counter()
        for _ in range(3):
            graph(xs)
        seconds[name] = (time.perf_counter() - begin) / 3
    print(f"{rows:4} rows: {1e3 * seconds['one']:6.1f} ms on one, {1e3 * seconds['two']:6.1f} ms on two devices")

# %% [markdown]
# **Question 1.** Compare the three traces of a training step: your `replicate`, `multi_gpu_model` and MirroredStrategy.
# For each, say where the forward pass ran, where the gradient, and where the weights are. Which of your models would
# have looked right without a trace, and what would it have cost on four real GPUs? (4 to 6 sentences, with your
# numbers.)

# %% [markdown] answer three-traces points=2
# ### BEGIN SOLUTION
# With replicate the forward pass ran on the three devices that I asked for, two products each, and all 9 products of
# the gradient on CPU:0. multi_gpu_model had both on each of its four devices, 2 and 3 products, and MirroredStrategy on
# each of its three. In the first two there is one set of weights, on CPU:0: it is sent to all devices in each step, and
# the gradients come back and are added there. MirroredStrategy has a copy of the weights on each device and adds up
# gradients only. replicate would have looked right: its outputs and losses are those of one device. On four real GPUs
# the gradient, 3 products of 5, would have run on one of them. If all products take the same time, a step becomes
# 1 / (3/5 + 2/5 / 4) = 1.4 times as fast, and not 4 times, and that one GPU must also hold what the gradient needs of
# all slices.
# ### END SOLUTION

# %% [markdown]
# **Question 2.** From how many rows on did two devices pay off for the two branches, and how far was your run from the
# schedule? Name what the schedule leaves out on your machine. Would you use device scopes or slices of the batch for
# (a) this model, (b) the network of step 6, (c) a network whose weights do not fit on one GPU? (4 to 6 sentences.)

# %% [markdown] answer branches points=2
# ### BEGIN SOLUTION
# On my two cores there was no number of rows from which two devices clearly paid off: 51 ms on one and 62 ms on two with
# 4 rows, 123 and 115 with 32, 421 and 420 with 128. In the traces with 64 rows it was 178 and 103 ms, where the schedule
# says 185 and 93, and in another run 151 and 122. The schedule leaves out that my devices share two cores, which one
# product of matrices may use alone, and that sending and starting operations takes time too. (a) For this model I
# would use scopes on two GPUs: smaller slices do not make a chain of 140 steps shorter, but two chains can run side by
# side. (b) The network of step 6 has no branches, each layer needs the one before, so slices of the batch. (c) With
# slices every device needs all weights, so here the layers must lie on different devices, by scopes.
# ### END SOLUTION

# %% [markdown]
# ### On real GPUs
#
# With two GPUs or more, each of the four names is a card, or part of one; nothing above changes. What to expect:
#
# - The small networks of this lab become slower: starting an operation on a GPU takes some microseconds, and each slice
#   starts all of them.
# - `multi_gpu_model` sends all weights from the processor to every GPU in each step. MirroredStrategy sends gradients
#   only, by NCCL, straight between cards; leave `cross_device_ops` out.
# - A network's weights are made on `GPU:0`, unless you build it under `with tf.device("/cpu:0"):` or ask
#   `multi_gpu_model` for `cpu_relocation=True`.
# - Four logical GPUs on one card share it, as logical CPUs share cores: good for trying things out, and not faster.

# %% measure
# For show: what there is on this machine.
tf, keras, names = tools()
print("GPUs:", len(tf.config.list_physical_devices("GPU")), " devices in this lab:", ", ".join(names))
model = wide()
print("weights before:", {weight.value.device.rpartition("device:")[2] for weight in model.weights})
multi_gpu_model(model, cpu_relocation=True)
print("with cpu_relocation=True:", {weight.value.device.rpartition("device:")[2] for weight in model.weights})

# %% [markdown]
# ## What you have now
#
# - `multi_gpu_model` is: cut, run, concatenate, with shared weights. It works for any batch, also a short one.
# - A scope holds while operations are **made**. Around the building of a Keras model it does nothing; in `call` it works;
#   and the gradient needs a scope of its own.
# - Where something ran is read from a trace, never assumed.
# - MirroredStrategy copies the weights and adds gradients; each device divides its loss by the whole batch.
# - Branches on devices are as fast as the longest chain, if the devices share nothing.
#
# Next: other ways to share the work of training.
#
# The button saves this notebook and hands it in. You may hand in again as often as you like.

# %% measure hand-in
from course import hand_in

hand_in.button("07-devices")
