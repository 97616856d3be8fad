"""Real Horovod on real engines: who joins, what it computes, and that the engines survive whatever goes wrong."""

import os
import re

import numpy as np
import pytest

from course import cluster, horovod
from course.errors import Problem
from course.horovod import installation
from course.spmd import RunFailed, spmd

RANKS = 3


@pytest.fixture(scope="module")
def engines(request):
    if request.getfixturevalue("horovod") != ("torch", "tensorflow"):
        pytest.skip("Horovod is not installed: python -m course.horovod.build says why")
    yield cluster.start(RANKS)
    cluster.stop()


@pytest.fixture
def joined(engines):
    """The engines, joined; after the test they must work again, whatever it did to them."""
    horovod.start(engines)
    yield engines
    horovod.start(engines)
    assert run(summed) == [3.0] * RANKS


def run(function, *args, timeout=60, **kwargs):
    return spmd(function, *args, carrier="horovod", timeout=timeout, **kwargs)


def failing(function, *args, **kwargs):
    """Run a function that must fail; returns the lines of the error.

    About once in some hundred runs Horovod itself crashes when a rank does not join. Such a run is repeated.
    """
    for _ in range(2):
        with pytest.raises(RunFailed) as caught:
            run(function, *args, **kwargs)
        lines = str(caught.value).splitlines()
        if "SIGSEGV" not in lines[0]:
            break
    return lines


def state_of(engine_view):
    def state():
        import horovod.torch as hvd

        return (hvd.rank(), hvd.size()) if hvd.is_initialized() else None

    return engine_view.apply_sync(state)


def summed(comm):
    import horovod.torch as hvd
    import torch

    hvd.init()
    assert (hvd.rank(), hvd.size(), hvd.local_rank(), hvd.cross_size()) == (comm.rank, comm.size, comm.rank, 1)
    return hvd.allreduce(torch.full((2,), float(comm.rank)), op=hvd.Sum)[0].item()


# Who joins


@pytest.mark.long
def test_engines_join_again_and_again_and_in_any_order(joined, capsys):
    assert state_of(joined) == [(0, 3), (1, 3), (2, 3)]
    capsys.readouterr()
    horovod.start([2, 0])
    assert capsys.readouterr().out == "Horovod 0.28.1 (torch) has 2 ranks: rank 0 on engine 2, rank 1 on engine 0.\n"
    assert [state_of(joined)[engine] for engine in (2, 0)] == [(0, 2), (1, 2)]

    def process(comm):
        return summed(comm), os.getpid()

    pids = joined.apply_sync(os.getpid)
    assert run(process) == [(1.0, pids[2]), (1.0, pids[0])]
    horovod.start(1)
    assert state_of(joined)[0] == (0, 1)


def test_engines_of_which_one_crashes_while_it_joins_are_replaced_and_join(joined, capsys):
    def prepare():
        import horovod.torch as hvd

        hvd.init = os.abort

    pids = joined.apply_sync(os.getpid)
    joined.client[1].apply_sync(prepare)
    horovod.start(joined)
    assert state_of(joined) == [(0, 3), (1, 3), (2, 3)]
    assert joined.apply_sync(os.getpid)[1] != pids[1]
    assert "Everything that was defined there is gone." in capsys.readouterr().out


def test_engines_that_crash_whenever_they_join_are_named(joined, monkeypatch):
    monkeypatch.setattr(horovod, "_join", lambda comm, framework: os.abort())
    with pytest.raises(RunFailed, match="SIGABRT"):
        horovod.start(joined)


def test_a_run_is_a_program_of_its_own(joined):
    def size(comm):
        import horovod.torch as hvd

        before = hvd.is_initialized()
        hvd.init()
        hvd.init()
        return before, hvd.size()

    assert run(size) == run(size) == [(False, RANKS)] * RANKS
    assert state_of(joined) == [None] * RANKS


@pytest.mark.parametrize("given", [None, "3"])
def test_engines_that_stay_joined_ask_for_work_seldom_unless_somebody_has_set_how_often(engines, given):
    def set_variables(timeline, cycle):
        for name, value in {"HOROVOD_TIMELINE": timeline, "HOROVOD_CYCLE_TIME": cycle}.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value

    def watch():
        """Return what is set now, and on rank 0 how many cycles begin in half a second."""
        import json
        import tempfile
        import time
        from pathlib import Path

        import horovod.torch as hvd

        with tempfile.TemporaryDirectory() as folder:
            hvd.start_timeline(f"{folder}/timeline", mark_cycles=True)
            time.sleep(0.5)
            hvd.stop_timeline()
            time.sleep(0.3)  # a separate thread writes the file
            text = Path(folder, "timeline").read_text().strip().rstrip(",") if hvd.rank() == 0 else "["
        cycles = json.loads(text + ("" if text.endswith("]") else "]"))
        return os.environ.get("HOROVOD_CYCLE_TIME"), sum(each.get("name") == "CYCLE_START" for each in cycles)

    engines.apply_sync(set_variables, "DYNAMIC", given)
    try:
        horovod.start(engines)
        seen = engines.apply_sync(watch)
    finally:
        engines.apply_sync(set_variables, None, None)
    assert [each for each, _ in seen] == [given] * RANKS
    assert given or seen[0][1] < 100  # at Horovod's own 1 ms it would be about 500


def test_without_hvd_init_the_error_is_horovods_own(joined):
    def forgets(comm):
        import horovod.torch as hvd

        return hvd.rank()

    assert "ValueError: Horovod has not been initialized; use hvd.init()." in failing(forgets)[0]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"engines": 4}, "engines=4: 3 engines are running, numbered 0 to 2."),
        ({"engines": [0, 0]}, "List each engine once at most, and at least one."),
        ({"engines": []}, "engines=[]: 3 engines are running"),
        ({"engines": "all"}, "horovod.start takes the engines that cluster.start returned and that still run"),
        ({"framework": "mxnet"}, "framework='mxnet' is unknown. Use one of 'torch', 'tensorflow', 'tf_keras'."),
    ],
)
def test_invalid_arguments_are_refused_in_a_sentence(engines, arguments, words):
    with pytest.raises(Problem, match=re.escape(words)):
        horovod.start(**arguments)


def test_a_run_on_another_number_of_ranks_than_start_chose_is_refused(joined):
    horovod.start([0, 2])
    with pytest.raises(
        Problem, match=re.escape("chose 2, rank 0 on engine 0, rank 1 on engine 2. Call horovod.start(3)")
    ):
        run(summed, ranks=3)


def test_if_horovod_is_missing_the_error_says_how_to_get_it(engines, monkeypatch):
    monkeypatch.setattr(installation, "find_parts", list)
    assert horovod.installed() == ()
    for function in (horovod.start, lambda: run(summed)):
        with pytest.raises(Problem, match=r"Horovod is not installed here\. Run `make lab`"):
            function()
    monkeypatch.setattr(installation, "find_parts", lambda: ["torch"])
    with pytest.raises(Problem, match="Horovod's part for tf_keras is not installed"):
        horovod.start(framework="tf_keras")


# What goes wrong


def test_an_engine_that_is_busy_does_not_join(joined):
    def sleep():
        import time

        time.sleep(60)

    busy = joined.client[1].apply_async(sleep)
    with pytest.raises(RunFailed, match="Rank 1 did not begin: its engine is still busy with an earlier call"):
        horovod.start(timeout=2)
    joined.interrupt([1])
    busy.wait(10)


def test_an_engine_that_died_is_replaced_and_joins(joined):
    def die(pid):
        if os.getpid() == pid:
            os._exit(3)

    with pytest.raises(Problem, match="engine 2 exited with status 3"):
        joined.apply_sync(die, joined.apply_sync(os.getpid)[2])
    horovod.start(joined)
    assert state_of(joined) == [(0, 3), (1, 3), (2, 3)]


def test_a_rank_that_does_not_join_is_named(joined):
    def stays_away(comm):
        import horovod.torch as hvd

        if comm.rank != 1:
            hvd.init()

    lines = failing(stays_away)
    assert lines[0].startswith("Rank 1 has returned, and ranks 0 and 2 were waiting in a Horovod call")
    assert re.search(r"rank 0 waited in a Horovod call \(.*, line \d+ of `stays_away`: `hvd.init\(\)`\)", lines[1])


def test_a_collective_that_a_rank_skips_ends_at_once(joined):
    def skips(comm):
        import horovod.torch as hvd
        import torch

        hvd.init()
        for _ in range(3 - (comm.rank == 1)):
            hvd.allreduce(torch.ones(3))

    lines = failing(skips)
    assert lines[0].startswith("Rank 1 has returned, and ranks 0 and 2 were waiting in a Horovod call")
    assert "of `skips`: `hvd.allreduce(torch.ones(3))`)" in lines[1]
    assert lines[2] == "  rank 1 has returned"


@pytest.mark.long
def test_ranks_in_different_collectives_are_reported_as_such(joined):
    def only_rank_0(comm):
        import horovod.torch as hvd
        import torch

        hvd.init()
        if hvd.rank() == 0:
            hvd.broadcast(torch.ones(3), root_rank=0)
        hvd.allreduce(torch.ones(3))

    lines = failing(only_rank_0)
    assert lines[0].startswith("Ranks 0, 1 and 2 were waiting in a Horovod call")
    assert "but not all in the same call" in lines[0]
    assert "`hvd.broadcast(torch.ones(3), root_rank=0)`" in lines[1] and "`hvd.allreduce(torch.ones(3))`" in lines[2]
    lines = failing(only_rank_0, timeout=2)  # before Horovod itself has noticed
    assert "`hvd.broadcast(torch.ones(3), root_rank=0)`" in lines[1] and "`hvd.allreduce(torch.ones(3))`" in lines[2]


@pytest.mark.parametrize("how", ["raises", "dies"])
def test_a_rank_that_raises_or_dies_is_the_cause(joined, how):
    def breaks(comm, how):
        import horovod.torch as hvd
        import torch

        hvd.init()
        hvd.allreduce(torch.ones(3))
        if comm.rank == 2:
            os._exit(3) if how == "dies" else 1 / 0
        hvd.allreduce(torch.ones(3))

    lines = failing(breaks, how=how)
    cause = {"raises": "Rank 2 raised ZeroDivisionError", "dies": "Rank 2 died: its engine exited with status 3"}
    assert lines[0].startswith(cause[how])
    assert lines[1].startswith("  rank 0 waited in a Horovod call") and "`hvd.allreduce" in lines[1]


def test_an_error_about_different_shapes_names_both(joined):
    def shapes(comm):
        import horovod.torch as hvd
        import torch

        hvd.init()
        hvd.allreduce(torch.ones(4 if comm.rank == 2 else 3))

    assert "One rank sent a tensor of shape [3], but another rank sent a tensor of shape [4]" in failing(shapes)[0]


# What it computes: with each optimizer, one step from the ranks' own data equals one step from all data

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(12, 4)).astype(np.float32), RNG.normal(size=(12, 1)).astype(np.float32)
RATE = 0.1


def parted(array, ranks):
    return list(np.split(array, ranks))


def one_step(w, b):
    """Return w and b after one step of gradient descent on the mean squared error over all data, in one process."""
    error = X @ w + b - Y
    return w - RATE * 2 / len(X) * X.T @ error, b - RATE * 2 * error.mean(axis=0)


def test_torchs_optimizer_averages_over_the_ranks(joined):
    def train(comm, x, y):
        import horovod.torch as hvd
        import torch

        hvd.init()
        torch.manual_seed(hvd.rank())
        model = torch.nn.Linear(4, 1)
        hvd.broadcast_parameters(model.state_dict(), root_rank=0)
        start = [parameter.detach().numpy().copy() for parameter in model.parameters()]
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        optimizer = hvd.DistributedOptimizer(optimizer, named_parameters=model.named_parameters())
        torch.nn.functional.mse_loss(model(torch.from_numpy(x)), torch.from_numpy(y)).backward()
        optimizer.step()
        return start, [parameter.detach().numpy() for parameter in model.parameters()]

    for (w, b), (new_w, new_b) in run(train, parted(X, RANKS), parted(Y, RANKS)):
        expected_w, expected_b = one_step(w.T, b)
        np.testing.assert_allclose(new_w.T, expected_w, atol=1e-5)
        np.testing.assert_allclose(new_b, expected_b, atol=1e-5)


@pytest.fixture(scope="module")
def with_tensorflow(engines):
    """Two engines that have imported TensorFlow, Keras 3 and legacy Keras, which takes long."""
    horovod.start(2, "tf_keras", timeout=300)
    horovod.start(2, "tensorflow", timeout=300)
    return engines


@pytest.mark.long
def test_the_tape_averages_under_keras_3(with_tensorflow):
    def train(comm, x, y):
        import horovod.tensorflow as hvd
        import keras
        import tensorflow as tf

        hvd.init()
        keras.utils.set_random_seed(hvd.rank())
        model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])
        hvd.broadcast_variables([variable.value for variable in model.variables], root_rank=0)
        start = model.get_weights()
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((model(x) - y) ** 2)
        tape = hvd.DistributedGradientTape(tape)
        gradients = tape.gradient(loss, [variable.value for variable in model.trainable_variables])
        keras.optimizers.SGD(0.1).apply(gradients, model.trainable_variables)
        return start, model.get_weights()

    for (w, b), (new_w, new_b) in run(train, parted(X, 2), parted(Y, 2)):
        np.testing.assert_allclose(new_w, one_step(w, b)[0], atol=1e-5)
        np.testing.assert_allclose(new_b, one_step(w, b)[1], atol=1e-5)


@pytest.mark.long
def test_the_keras_optimizer_averages_in_legacy_keras(with_tensorflow):
    def train(comm, x, y):
        import horovod.tensorflow.keras as hvd
        import tf_keras

        hvd.init()
        tf_keras.utils.set_random_seed(hvd.rank())
        model = tf_keras.Sequential([tf_keras.layers.Dense(1, input_shape=(4,))])
        model.set_weights([hvd.broadcast(weights, 0).numpy() for weights in model.get_weights()])
        start = model.get_weights()
        model.compile(hvd.DistributedOptimizer(tf_keras.optimizers.SGD(0.1)), "mse")
        model.fit(x, y, batch_size=len(x), verbose=0, callbacks=[hvd.callbacks.MetricAverageCallback()])
        return start, model.get_weights()

    for (w, b), (new_w, new_b) in run(train, parted(X, 2), parted(Y, 2)):
        np.testing.assert_allclose(new_w, one_step(w, b)[0], atol=1e-5)
        np.testing.assert_allclose(new_b, one_step(w, b)[1], atol=1e-5)


@pytest.mark.long
def test_legacy_keras_broadcasts_by_its_callback(with_tensorflow):
    def train(comm, x, y):
        import horovod.keras as hvd
        import tf_keras

        hvd.init()
        tf_keras.utils.set_random_seed(hvd.rank())
        model = tf_keras.Sequential([tf_keras.layers.Dense(1, input_shape=(4,))])
        model.compile(hvd.DistributedOptimizer(tf_keras.optimizers.SGD(0.1)), "mse")
        broadcast = hvd.callbacks.BroadcastGlobalVariablesCallback(0)
        model.fit(x, y, epochs=2, batch_size=len(x), verbose=0, callbacks=[broadcast])
        return model.get_weights()

    (w, b), (other_w, other_b) = run(train, parted(X, 2), parted(Y, 2))
    np.testing.assert_allclose(w, other_w, atol=1e-6)
    np.testing.assert_allclose(b, other_b, atol=1e-6)


@pytest.mark.long
def test_horovods_keras_optimizer_is_refused_under_keras_3(with_tensorflow):
    def train(comm):
        import horovod.keras
        import horovod.tensorflow
        import horovod.tensorflow.keras
        import keras
        import numpy as np

        horovod.tensorflow.init()
        errors = []
        for module in (horovod.keras, horovod.tensorflow.keras, horovod.tensorflow):
            try:
                module.DistributedOptimizer(keras.optimizers.SGD(0.1))
            except TypeError as error:
                errors.append(str(error))
        model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])
        model.compile("sgd", "mse")
        try:
            broadcast = horovod.tensorflow.keras.callbacks.BroadcastGlobalVariablesCallback(0)
            model.fit(np.ones((2, 4)), np.ones((2, 1)), verbose=0, callbacks=[broadcast])
        except TypeError as error:
            errors.append(str(error))
        return errors

    for errors in run(train):
        assert len(errors) == 4
        for words in errors:
            assert "is for legacy Keras" in words and "gradients would not be averaged" in words
            assert "hvd.DistributedGradientTape" in words and "import tf_keras" in words


@pytest.mark.long
def test_a_tensorflow_rank_that_skips_a_collective_or_dies_ends_the_others(with_tensorflow):
    def breaks(comm, how):
        import horovod.tensorflow as hvd
        import tensorflow as tf

        hvd.init()
        hvd.allreduce(tf.ones(3), name="first")
        if comm.rank == 1 and how == "skips":
            return
        if comm.rank == 1:
            os._exit(3)
        hvd.allreduce(tf.ones(3), name="second")

    lines = failing(breaks, how="skips")
    assert lines[0].startswith("Rank 1 has returned, and rank 0 was waiting in a Horovod call")
    assert 'of `breaks`: `hvd.allreduce(tf.ones(3), name="second")`)' in lines[1]
    lines = failing(breaks, how="dies")
    assert lines[0].startswith("Rank 1 died: its engine exited with status 3")
    assert lines[1].startswith("  rank 0 waited in a Horovod call")
    assert run(summed) == [1.0, 1.0]
