"""TensorFlow and Keras are imported quietly and on demand; several devices compute what one does, as traces show.

A process has one set of devices, so the tests use two processes: one with a single device, and one with four. Functions
without `test` in their name run in them.
"""

import functools
import json
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np
import pytest

from course.keras import slices

pytestmark = pytest.mark.long  # lab 07 uses all of it in `make test`
ONE_DEVICE = """
import json, os
import course.keras
from course.errors import Problem
from tests.course.test_keras import lectures_program

tf, keras = course.keras.quiet_import()
result = {"sum": float(tf.reduce_sum(keras.ops.ones(3)))}
for name, ask in {"all": None, "two": 2, "one": 1}.items():
    try:
        course.keras.multi_gpu_model(keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)]), ask)
    except ValueError as why:
        result[name] = str(why)
result["fallback"] = lectures_program(epochs=1, gpus=2)["devices"]
try:
    course.keras.logical_devices(2)
except Problem as why:
    result["late"] = str(why)
print(json.dumps(result))
os.write(2, b"afterwards")
"""


def lectures_program(epochs=8, **options):
    """A program in the shape of Dong's (lesson 3): multi_gpu_model or one device, fit, evaluate with F1, summary."""
    import tensorflow as tf
    from keras.layers import Conv2D, Dense, Flatten, Input, MaxPooling2D
    from keras.models import Model

    from course.keras import multi_gpu_model

    rng = np.random.default_rng(1)
    labels = np.arange(130) % 10
    images = rng.random((130, 28, 28, 1)) * 0.2
    for image, label in zip(images, labels, strict=True):
        image[2 * label : 2 * label + 4] += 0.8  # a bright bar, lower for a greater digit
    images, labels = np.float32(images), np.float32(labels[:, None])  # a column of floats, as Keras 2 gave labels

    inputs = Input(shape=(28, 28, 1))
    x = MaxPooling2D(pool_size=(2, 2))(Conv2D(4, (5, 5))(inputs))
    x = Dense(32, activation=tf.nn.relu)(Flatten()(x))
    outputs = Dense(10, activation=tf.nn.softmax)(x)
    with tf.device("/cpu:0"):
        model = Model(inputs, outputs)

    def f1_score(y_true, y_pred):
        hits = tf.reduce_sum(tf.one_hot(tf.cast(y_true[:, 0], tf.int32), 10) * y_pred)
        precision, recall = hits / tf.reduce_sum(y_pred), hits / tf.cast(tf.size(y_true), tf.float32)
        return 2 * precision * recall / (precision + recall)

    try:
        pmodel = multi_gpu_model(model, **options)
    except ValueError:
        pmodel = model
    pmodel.compile(optimizer="adam", loss="sparse_categorical_crossentropy", metrics=["accuracy", f1_score])
    pmodel.fit(images[:100], labels[:100], epochs=epochs, batch_size=20, verbose=0)
    [loss_value, accuracy, f1_value] = pmodel.evaluate(images[100:], labels[100:], verbose=0)
    summary = []
    pmodel.summary(print_fn=summary.append)
    return {
        "devices": len(getattr(pmodel, "devices", [None])),
        "loss": loss_value,
        "accuracy": accuracy,
        "f1": f1_value,
        "has_summary": f"{model.count_params():,}" in "\n".join(summary),
    }


@pytest.fixture(scope="module")
def alone():
    """The results of the process with one device, and what it wrote to file descriptor 2."""
    done = subprocess.run([sys.executable, "-c", ONE_DEVICE], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout), done.stderr


@pytest.fixture(scope="module")
def four():
    """A function that runs another one in the process with four devices and returns its result."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        pool.submit(four_devices).result()
        yield functools.cache(lambda function: pool.submit(function).result())


def four_devices():
    from course.keras import logical_devices

    logical_devices(4)


def test_importing_the_module_does_not_load_tensorflow():
    code = "import sys; import course.keras; assert not {'tensorflow', 'keras'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_import_writes_nothing_and_restores_file_descriptor_2(alone):
    result, errors = alone
    assert result["sum"] == 3
    assert errors == "afterwards"


def test_too_few_devices_are_a_value_error_that_says_how_to_make_more(alone):
    result, _ = alone
    for name in ("all", "two"):
        assert "this process has one device (CPU:0)" in result[name] and "logical_devices(2)" in result[name]
    assert "gpus=2 or more" in result["one"]


def test_the_lectures_fallback_trains_on_one_device(alone):
    assert alone[0]["fallback"] == 1


def test_asking_for_devices_too_late_is_a_problem_that_says_to_restart(alone):
    assert "one device (CPU:0), not 2" in alone[0]["late"] and "Restart the kernel" in alone[0]["late"]


@pytest.mark.parametrize("rows", [0, 1, 3, 4, 11, 13, 64])
def test_slices_hold_every_row_once_and_differ_by_one_row_at_most(rows):
    cut = slices(rows, 4)
    assert [row for begin, end in cut for row in range(begin, end)] == list(range(rows))
    assert len(cut) == 4 and max(e - b for b, e in cut) - min(e - b for b, e in cut) <= 1


def devices_again():
    import contextlib
    import io

    from course.errors import Problem
    from course.keras import logical_devices

    with contextlib.redirect_stdout(io.StringIO()) as out:
        first, again = logical_devices(3), logical_devices(3)
    try:
        logical_devices(5)
    except Problem as why:
        return first, again, out.getvalue(), str(why)


def test_the_devices_are_described_in_one_line_and_once(four):
    first, again, output, problem = four(devices_again)
    assert len(first) == 3 and again == first
    assert output.count("\n") == 1 and all(name in output for name in first)
    assert "4 devices" in problem and "not 5" in problem


def all_sizes():
    """Largest difference from the base model, per batch size, for a model with two inputs, an LSTM and means."""
    import keras

    from course.keras import multi_gpu_model

    keras.utils.set_random_seed(3)
    numbers, words = keras.Input((4,)), keras.Input((7,), dtype="int32")
    encoded = keras.layers.LSTM(6)(keras.layers.Embedding(11, 5)(words))
    joined = keras.layers.BatchNormalization()(keras.layers.Concatenate()([keras.layers.Dense(3)(numbers), encoded]))
    model = keras.Model([numbers, words], [keras.layers.Dense(2)(joined), keras.layers.Dense(3)(joined)])
    many = multi_gpu_model(model)
    rng, apart = np.random.default_rng(2), {}
    for rows in (1, 2, 3, 4, 13, 33):
        xs = [rng.normal(size=(rows, 4)), rng.integers(0, 11, (rows, 7))]
        outputs = many.predict(xs, verbose=0) if rows == 13 else [each.numpy() for each in many(xs)]
        pairs = zip([each.numpy() for each in model(xs)], outputs, strict=True)
        apart[rows] = max(abs(one - other).max() if one.shape == other.shape else np.inf for one, other in pairs)
    many.compile("sgd", ["mse", "mse"])
    many.fit(xs, [np.zeros((33, 2)), np.zeros((33, 3))], batch_size=10, verbose=0)  # the last batch has 3 rows
    return apart, [bool(np.isfinite(weight).all()) for weight in model.get_weights()]


def test_outputs_are_those_of_the_base_model_for_every_batch_even_with_fewer_rows_than_devices(four):
    apart, _ = four(all_sizes)
    assert len(apart) == 6 and max(apart.values()) <= 1e-6


def test_empty_slices_bring_no_nan_into_the_means_of_a_layer(four):
    _, finite = four(all_sizes)
    assert finite and all(finite)


def small(keras):
    keras.utils.set_random_seed(2)
    return keras.Sequential([keras.Input((8,)), keras.layers.Dense(16, activation="tanh"), keras.layers.Dense(1)])


def training():
    """Losses of the same training in four ways, and whether base and parallel model share their weights."""
    import keras
    import tensorflow as tf

    from course.keras import multi_gpu_model

    rng = np.random.default_rng(4)
    x, y = rng.normal(size=(50, 8)), rng.normal(size=(50, 1))

    def losses(model, **options):
        model.compile("adam", "mse", **options)
        return model.fit(x, y, batch_size=16, epochs=3, shuffle=False, verbose=0).history["loss"]

    base = small(keras)
    many = multi_gpu_model(base, gpus=3)
    losses_of = {
        "one device": losses(small(keras)),
        "three devices": losses(many),
        "eager, merged on the first device": losses(multi_gpu_model(small(keras), cpu_merge=False), run_eagerly=True),
    }
    strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"], tf.distribute.ReductionToOneDevice())
    with strategy.scope():
        mirrored = small(keras)
        losses_of["mirrored"] = losses(mirrored)
    shared = [a is b for a, b in zip(base.weights, many.base.weights, strict=True)]
    return losses_of, shared, float(abs(many.predict(x, verbose=0) - base.predict(x, verbose=0)).max())


def test_training_has_the_losses_of_one_device_and_trains_the_base_model_too(four):
    losses_of, shared, apart = four(training)
    for losses in losses_of.values():
        assert len(losses) == 3 and np.allclose(losses, losses_of["one device"], atol=1e-5, rtol=0), losses_of
    assert all(shared) and apart <= 1e-6


def saving():
    """The class of what is loaded, and how far its outputs are from the parallel model's."""
    import tempfile
    from pathlib import Path

    import keras

    from course.keras import multi_gpu_model

    x, many = np.ones((5, 8)), multi_gpu_model(small(keras))
    many.compile("adam", "mse")
    many.fit(x, np.ones((5, 1)), verbose=0)
    with tempfile.TemporaryDirectory() as folder:
        many.save(Path(folder) / "model.keras")
        many.save_weights(Path(folder) / "model.weights.h5")
        loaded, filled = keras.models.load_model(Path(folder) / "model.keras"), small(keras)
        filled.load_weights(Path(folder) / "model.weights.h5")
        again = multi_gpu_model(keras.models.clone_model(filled))
        again.load_weights(Path(folder) / "model.weights.h5")
    out = many.predict(x, verbose=0)
    return type(loaded).__name__, [float(abs(m.predict(x, verbose=0) - out).max()) for m in (loaded, filled, again)]


def test_the_parallel_model_is_saved_and_loaded_as_the_base_model(four):
    kind, apart = four(saving)
    assert kind == "Sequential" and max(apart) <= 1e-6


def placement():
    """Number of products per device in a training step, forward and for the gradient, and where outputs merged."""
    from collections import Counter

    import keras

    from course.keras import multi_gpu_model, trace

    many = multi_gpu_model(small(keras))
    many.compile("sgd", "mse")
    x, y = np.ones((10, 8), "float32"), np.ones((10, 1), "float32")
    many.train_on_batch(x, y)
    ran = trace(many.train_on_batch, x, y)
    forward = Counter(o["device"] for o in ran if o["kind"] == "MatMul" and "gradient" not in o["name"])
    gradient = Counter(o["device"] for o in ran if o["kind"] == "MatMul" and "gradient" in o["name"])
    merged = [o["device"] for o in ran if o["kind"] == "ConcatV2"]
    ordered = all(0 <= o["start"] <= o["end"] for o in ran)
    return forward, gradient, merged, ordered, many.jit_compile, ran.timeline().text


def test_each_device_ran_its_slice_and_its_gradient(four):
    forward, gradient, merged, ordered, jit, text = four(placement)
    devices = [f"CPU:{i}" for i in range(4)]
    assert forward == dict.fromkeys(devices, 2)
    assert gradient == dict.fromkeys(devices, 3)
    assert merged == ["CPU:0"] and ordered
    assert jit is False  # XLA would put everything on one device
    assert all(device in text for device in devices)


def places():
    """Where products ran: with a scope around the call of a layer, with a loop on one device, and without a graph."""
    import keras
    import tensorflow as tf

    from course.errors import Problem
    from course.keras import trace

    inputs = keras.Input((6,))
    with tf.device("CPU:2"):
        outputs = keras.layers.Dense(3)(inputs)
    scoped = trace(tf.function(keras.Model(inputs, outputs)), tf.ones((2, 6)))
    lstm = keras.layers.LSTM(3)
    lstm.build((None, 40, 5))

    def on_three(x):
        with tf.device("CPU:3"):
            return lstm(x)

    chain = trace(tf.function(on_three), tf.ones((2, 40, 5)))
    try:
        trace(len, "nothing")
    except Problem as why:
        problem = str(why)
    return [[o["device"] for o in ran if o["kind"] == "MatMul"] for ran in (scoped, chain)], problem


def test_a_trace_says_where_operations_ran_and_not_where_they_were_meant_to(four):
    (scoped, chain), problem = four(places)
    assert scoped == ["CPU:0"]  # the scope had ended when the product was created
    assert chain == ["CPU:3"] * 80  # two products per step
    assert "nothing ran as a graph" in problem


def relocation():
    """Devices of the weights before and after, and whether the base model continues with the trained weights."""
    import keras
    import tensorflow as tf

    from course.keras import multi_gpu_model

    with tf.device("CPU:2"):
        base = small(keras)
    x = np.ones((5, 8))
    out = [base.predict(x, verbose=0)]
    where = [{weight.value.device[-5:] for weight in base.weights}]
    many = multi_gpu_model(base, cpu_relocation=True)
    where.append({weight.value.device[-5:] for weight in base.weights})
    out.append(many.predict(x, verbose=0))
    many.compile("sgd", "mse")
    many.fit(x, np.full((5, 1), 9.0), verbose=0)
    return where, float(abs(out[1] - out[0]).max()), float(abs(base.predict(x, verbose=0) - out[0]).max())


def test_relocation_moves_the_weights_to_the_cpu_and_the_base_model_keeps_them(four):
    where, moved, trained = four(relocation)
    assert where == [{"CPU:2"}, {"CPU:0"}]
    assert moved <= 1e-6 and trained > 0.01


def lectures_programs():
    return [lectures_program(gpus=2), lectures_program(cpu_relocation=True)]


def test_programs_like_the_lectures_train_on_several_devices_with_f1_and_evaluation(four):
    two, every = four(lectures_programs)
    assert (two["devices"], every["devices"]) == (2, 4)
    for result in (two, every):
        assert result["accuracy"] > 0.9 and 0.5 < result["f1"] <= 1 and 0 < result["loss"] < 1
        assert result["has_summary"]
