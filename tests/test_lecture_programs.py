"""Two programs of the lectures, on engines: the loop over all_reduce, and Horovod's five steps in Keras.

The first is from Blue Waters 2019 (Saxton), for PyTorch, the second from Jülich 2020 (Cavallaro). They are changed only
where lab 06 says that they must be: imports and data, how the process group is joined, the in-place division of a
parameter, and TensorFlow 1's sessions.
"""

import sys
import tempfile
from pathlib import Path

import cloudpickle
import numpy as np
import pytest
import torch
import torch.distributed as dist

from course import cluster, data, horovod
from course.spmd import RunFailed, spmd

cloudpickle.register_pickle_by_value(sys.modules[__name__])  # engines cannot import tests


pytestmark = pytest.mark.usefixtures("horovod")


@pytest.fixture(scope="module")
def engines():
    yield cluster.start(2)
    cluster.stop()


@pytest.fixture(scope="module")
def shares():
    """(pixels, labels): 100 digits for each of two ranks."""
    digits = data.load("mnist-5000")
    mix = np.random.default_rng(0).permutation(5000)[:200]
    return np.split((digits["pixels"][mix] / 255).astype(np.float32), 2), np.split(digits["digit"][mix], 2)


def native_pytorch(comm, X, y, steps, as_printed=False):
    """Each rank takes a step on its own rows, then all average their parameters; returns losses and parameters."""
    dist.init_process_group("gloo", init_method="spmd://")
    num_workers = dist.get_world_size()
    X, y = torch.from_numpy(X), torch.from_numpy(y)
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(784, 16), torch.nn.Sigmoid(), torch.nn.Linear(16, 10))
    optimizer, losses = torch.optim.SGD(model.parameters(), lr=0.5), []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(X), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        for param in model.parameters():
            dist.all_reduce(param.data)
        for param in model.parameters():
            if as_printed:
                param /= float(num_workers)
            else:
                param.data /= float(num_workers)
    return losses, torch.nn.utils.parameters_to_vector(model.parameters()).detach()


def test_the_loop_over_all_reduce_trains_and_keeps_the_ranks_equal(engines, shares):
    run = spmd(native_pytorch, *shares, steps=20, carrier="torch", timeout=60)
    together = spmd(native_pytorch, [np.concatenate(shares[0])], [np.concatenate(shares[1])], steps=20, carrier="torch")
    assert torch.equal(run[0][1], run[1][1])
    torch.testing.assert_close(run[0][1], together[0][1], rtol=1e-3, atol=1e-4)  # equals one process on all rows
    assert run[0][0][-1] < run[0][0][0] - 0.2


def test_its_in_place_division_fails_as_printed(engines, shares):
    with pytest.raises(RunFailed, match="in-place operation"):
        spmd(native_pytorch, *shares, steps=1, as_printed=True, carrier="torch", timeout=60)


def five_steps(comm, X, y, epochs):
    """Train with Horovod in Keras; returns the losses of fit, the weights, and the names of this rank's checkpoints."""
    import horovod.tensorflow.keras as hvd
    import tensorflow as tf
    import tf_keras as keras

    hvd.init()  # 1
    if gpus := tf.config.list_physical_devices("GPU"):  # 2
        tf.config.set_visible_devices(gpus[hvd.local_rank() % len(gpus)], "GPU")
    tf.random.set_seed(hvd.rank())  # so that the ranks start with different weights
    model = keras.Sequential(
        [
            keras.Input((784,)),
            keras.layers.Dense(16, activation="sigmoid"),
            keras.layers.Dense(10, activation="softmax"),
        ]
    )
    opt = hvd.DistributedOptimizer(keras.optimizers.SGD(0.1 * hvd.size()))  # 3
    model.compile(optimizer=opt, loss="sparse_categorical_crossentropy")
    callbacks = [hvd.callbacks.BroadcastGlobalVariablesCallback(0)]  # 4
    with tempfile.TemporaryDirectory() as folder:
        if hvd.rank() == 0:  # 5
            callbacks.append(keras.callbacks.ModelCheckpoint(str(Path(folder, "checkpoint-{epoch}.h5"))))
        history = model.fit(X, y, batch_size=20, epochs=epochs, callbacks=callbacks, verbose=0)
        return history.history["loss"], model.get_weights(), sorted(path.name for path in Path(folder).iterdir())


@pytest.mark.long
def test_the_five_steps_in_keras_train_and_only_rank_0_writes_checkpoints(engines, shares):
    horovod.start(framework="tf_keras", timeout=120)
    run = spmd(five_steps, *shares, epochs=3, carrier="horovod", timeout=120)
    for ours, theirs in zip(run[0][1], run[1][1], strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-6)
    assert run[0][0][-1] < run[0][0][0]
    assert run[0][2] == [f"checkpoint-{epoch}.h5" for epoch in (1, 2, 3)]
    assert run[1][2] == []
