"""TensorFlow and Keras in one process: imported quietly, given several devices, and watched at work.

They are imported where they are first used and nowhere else: it takes seconds, and no process that is forked
afterwards may have them. `multi_gpu_model` is the function that left Keras with TensorFlow 2.4, for Keras 3.
"""

import contextlib
import functools
import itertools
import os
import re
import tempfile
from pathlib import Path

from course import plots
from course.errors import Problem

# before TensorFlow is there: what it writes later, about its own threads and data sets, is no student's business
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

HOST = "CPU:0"
LOGICAL_GPU_MB = 1024  # memory of one logical GPU, where several share a real one
# what TensorFlow puts before an operation's name when it joins it with its neighbours or hands it to oneDNN
JOINED = re.compile(r"^_(Mkl)?(Native)?(Fused)?")


def quiet_import():
    """Import TensorFlow and Keras, which takes some seconds the first time; returns the two modules."""
    with no_stderr():
        import keras
        import tensorflow

        tensorflow.constant(0)  # the first tensor makes the devices, which tells about them too
        tensorflow.get_logger().setLevel("ERROR")  # MirroredStrategy tells about each variable
    return tensorflow, keras


@functools.cache
def logical_devices(n):
    """The names of n devices of this process, as `tf.device` takes them: ("GPU:0", "GPU:1") or ("CPU:0", "CPU:1").

    Where there are n GPUs these are the devices. Fewer GPUs are divided into n logical ones, with 1 GB of memory each.
    Without a GPU the processor is divided into n logical CPUs: they share its cores, and are apart in all else.
    Says in one line what was made, the first time. TensorFlow makes a process's devices once, before the first tensor:
    raises Problem where they are there already and fewer than n.
    """
    with no_stderr():
        import tensorflow as tf

        kind = "GPU" if tf.config.list_physical_devices("GPU") else "CPU"
        real = tf.config.list_physical_devices(kind)
        if len(real) < n:
            part = tf.config.LogicalDeviceConfiguration(memory_limit=LOGICAL_GPU_MB if kind == "GPU" else None)
            with contextlib.suppress(RuntimeError):  # they are there already
                for device, (begin, end) in zip(real, slices(n, len(real)), strict=True):
                    tf.config.set_logical_device_configuration(device, [part] * (end - begin))
        names = _devices()
    if len(names) < n:
        raise Problem(
            f"this kernel has {_told(names)}, not {n}, and TensorFlow makes devices once: restart the kernel "
            f"(Kernel → Restart Kernel), and ask for {n} devices before anything else of TensorFlow runs."
        )
    made = f"{n} {kind}s" if len(real) >= n else f"{n} logical {kind}s, which share {len(real)} real {kind}"
    print(f"{made}: {', '.join(names[:n])}.")
    return names[:n]


def multi_gpu_model(model, gpus=None, cpu_merge=True, cpu_relocation=False):
    """A data-parallel version of a Keras model: each device runs it on its slice of the batch.

    model: a Keras 3 model, whose inputs and outputs (one each, or several) have the batch as first axis.
    gpus: how many devices, 2 or more; None for all. They are the GPUs or, without any, the (logical) CPUs.
    cpu_merge: concatenate the slices' outputs on the CPU, not on the first device.
    cpu_relocation: move the weights to the CPU. They keep their values and still belong to `model`; ask for it before a
        `tf.function` of your own uses them, which would go on with the old ones.
    Returns a model with the weights of `model`, not copies: training the one trains the other. It gives the same
    outputs for a batch of any size; slices differ by one row at most. The gradient of a slice is computed on the
    slice's device, and the sum of the gradients and the step where the weights are. It is saved and loaded as `model`.
    What a layer computes over its whole batch (the means of a BatchNormalization in training) it computes over a slice.
    Raises ValueError where there are fewer devices than asked for, or fewer than 2.

    As in Keras 2.3 (keras.utils.multi_gpu_model); there the gradients' place was left to TensorFlow.
    """
    if gpus is not None and gpus < 2:
        raise ValueError(f"multi_gpu_model wants gpus=2 or more, or None for all: got {gpus}.")
    names = _devices()
    if len(names) < (gpus or 2):
        raise ValueError(
            f"multi_gpu_model wants {gpus or '2 or more'} devices, and this process has {_told(names)}. To make "
            f"more, in a fresh kernel and before the first tensor: course.keras.logical_devices({gpus or 2})."
        )
    devices = names[:gpus]
    if cpu_relocation:
        _relocate(model)
    return _replicas()(model, devices, HOST if cpu_merge else devices[0])


def _relocate(model):
    """Move the weights of a model to the CPU."""
    import tensorflow as tf

    with tf.device(HOST):
        for weight in model.weights:
            if _short(weight.value.device) != HOST:
                weight._initialize(weight.numpy())  # a new variable within the same Keras variable
    # graphs that hold the old ones
    model.train_function = model.test_function = model.predict_function = None


def slices(rows, n):
    """How `multi_gpu_model` cuts a batch: (begin, end) of each of n slices; sizes differ by one row at most.

    rows: how many rows there are, a number or a tensor; the ends are of the same kind. With fewer rows than n some
    slices are empty.
    """
    edges = [rows * i // n for i in range(n + 1)]
    return list(itertools.pairwise(edges))


def trace(function, *args):
    """Where and when each operation ran in a call of `function(*args)`, from TensorFlow's own profiler.

    function: what runs as a graph: a `tf.function`, or a method such as `model.train_on_batch`. It is called twice: to
    learn on which device each operation of its graphs is, and with the profiler.
    Returns an `Operations`: a list with a dict for each operation that ran, in order of their start:
    "device" ("CPU:1"), "kind" ("MatMul"), "name" (within the graph, with the layer's), "start" and "end" (seconds).
    An operation that takes next to no time is left out by the profiler once it has run some ninety times, in a loop.
    Raises Problem where no graph ran.
    """
    import tensorflow as tf
    from tensorflow.python.eager import context
    from tensorflow.tsl.profiler.protobuf import xplane_pb2

    here = context.context()
    with no_stderr(), tempfile.TemporaryDirectory() as folder:  # the profiler tells about itself
        here.clear_kernel_cache()  # graphs are only handed out when they are made ready to run
        here.enable_run_metadata()
        try:
            function(*args)
            graphs = here.export_run_metadata().function_graphs
        finally:
            here.disable_run_metadata()
        where = {node.name: node.device for each in graphs for part in each.partition_graphs for node in part.node}
        tf.profiler.experimental.start(folder)
        try:
            function(*args)
        finally:
            tf.profiler.experimental.stop()
        (file,) = Path(folder).rglob("*.xplane.pb")
        space = xplane_pb2.XSpace.FromString(file.read_bytes())
    found = Operations(sorted(_executed(space, where), key=lambda each: each["start"]))
    if not found:
        raise Problem("nothing ran as a graph: give trace a tf.function, or a method such as model.train_on_batch.")
    zero = found[0]["start"]
    for each in found:
        each["start"], each["end"] = each["start"] - zero, each["end"] - zero
    return found


class Operations(list):
    """What `trace` found, with a picture."""

    def timeline(self, title="Which device computed when"):
        """A row a device, with a bar for each operation; returns a Plot."""
        return plots.devices(self, title=title)


def _executed(space, where):
    """The operations in a profile (an XSpace) whose place is known."""
    for plane in space.planes:
        names = {number: each.name for number, each in plane.event_metadata.items()}
        keys = {number: each.name for number, each in plane.stat_metadata.items()}
        for line in plane.lines:
            for event in line.events:
                # a GPU's own record has names of kernels, and the operation that asked for one beside it
                asked = [
                    told.str_value or keys.get(told.ref_value, "")
                    for told in event.stats
                    if keys[told.metadata_id] == "tf_op"
                ]
                name, _, kind = (asked or [names[event.metadata_id]])[0].rpartition(":")
                if name in where:
                    start = line.timestamp_ns / 1e9 + event.offset_ps / 1e12
                    yield {
                        "device": _short(where[name]),
                        "kind": JOINED.sub("", kind),
                        "name": name,
                        "start": start,
                        "end": start + event.duration_ps / 1e12,
                    }


@functools.cache
def _replicas():
    """The class of what multi_gpu_model returns; it can be written only once Keras is there."""
    import keras
    import tensorflow as tf

    class Replicas(keras.Model):
        """`base` on several devices: slices of the batch, their outputs concatenated at `merge_at`."""

        supports_jit = False  # XLA would put all of it on one device

        def __init__(self, base, devices, merge_at):
            super().__init__(name=f"{base.name}_on_{len(devices)}_devices")
            self.base, self.devices, self.merge_at = base, devices, merge_at
            self.built = base.built

        def call(self, inputs, training=None):
            rows = tf.shape(tf.nest.flatten(inputs)[0])[0]
            outputs = []
            for device, (begin, end) in zip(self.devices, slices(rows, len(self.devices)), strict=True):
                # A slice of no rows lends one and gives it back: the mean over no rows is not a number.
                lent = tf.maximum(end, begin + 1)
                with tf.device(device):
                    mine = tf.nest.map_structure(lambda x, begin=begin, end=lent: x[begin:end], inputs)
                computed = _on_device(device, functools.partial(self.base, training=training), mine)
                with tf.device(device):
                    outputs.append(tf.nest.map_structure(lambda y, n=end - begin: y[:n], computed))
            with tf.device(self.merge_at):
                return tf.nest.map_structure(lambda *ys: tf.concat(ys, axis=0), *outputs)

        def save(self, *args, **kwargs):
            return self.base.save(*args, **kwargs)

        def save_weights(self, *args, **kwargs):
            return self.base.save_weights(*args, **kwargs)

        def load_weights(self, *args, **kwargs):
            return self.base.load_weights(*args, **kwargs)

    return Replicas


def _on_device(device, function, inputs):
    """function(inputs) with its operations on `device`, and those of its gradient too.

    `tf.device` holds while operations are made. Those of the gradient are made when the gradient is asked for, outside:
    TensorFlow would put them where the weights are.
    """
    import tensorflow as tf

    @tf.custom_gradient
    def placed(*flat):
        with tf.device(device), tf.GradientTape() as tape:
            tape.watch([x for x in flat if x.dtype.is_floating])
            outputs = function(tf.nest.pack_sequence_as(inputs, flat))

        def gradient(*upstream, variables=()):
            asked = [*flat, *variables]
            with tf.device(device):
                got = tape.gradient(
                    tf.nest.flatten(outputs), asked, upstream, unconnected_gradients=tf.UnconnectedGradients.ZERO
                )
            return got[: len(flat)], got[len(flat) :]

        return outputs, gradient

    return placed(*tf.nest.flatten(inputs))


def _devices():
    """The names of this process's GPUs or, without any, of its CPUs; makes them where they are not there yet."""
    with no_stderr():
        import tensorflow as tf

        found = tf.config.list_logical_devices("GPU") or tf.config.list_logical_devices("CPU")
    return tuple(_short(device.name) for device in found)


def _short(name):
    """ "CPU:1" from the end of "/job:localhost/replica:0/task:0/device:CPU:1"."""
    return name.rpartition("device:")[2]


def _told(names):
    """ "one device (CPU:0)" or "2 devices (CPU:0, CPU:1)"."""
    return f"{len(names) if len(names) > 1 else 'one'} device{'s' * (len(names) > 1)} ({', '.join(names)})"


@contextlib.contextmanager
def no_stderr():
    """Nothing that is written to file 2 meanwhile is seen: these lines come from C++, past sys.stderr."""
    kept = os.dup(2)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)
