"""TensorFlow and Keras in one process: a quiet import, several devices, and a trace of where operations run.

Both are imported inside the functions here, because the import takes seconds and a process that is forked later must
not have them. `multi_gpu_model` is the function that left Keras with TensorFlow 2.4, written for Keras 3.
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

# Set before TensorFlow is imported: its later messages about threads and data sets do not concern students.
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

HOST = "CPU:0"
LOGICAL_GPU_MB = 1024  # memory of one logical GPU, if several share a real one
# The prefix that TensorFlow gives to an operation that it fuses with its neighbours or hands to oneDNN.
FUSED = re.compile(r"^_(Mkl)?(Native)?(Fused)?")


def quiet_import():
    """Import TensorFlow and Keras, which takes some seconds the first time; returns (tensorflow, keras)."""
    with no_stderr():
        import keras
        import tensorflow

        tensorflow.constant(0)  # the first tensor creates the devices, which prints messages too
        tensorflow.get_logger().setLevel("ERROR")  # MirroredStrategy logs a line for each variable
    return tensorflow, keras


@functools.cache
def logical_devices(n):
    """The names of n devices of this process, as `tf.device` takes them: ("GPU:0", "GPU:1") or ("CPU:0", "CPU:1").

    With at least n GPUs, these are the devices. Fewer GPUs are divided into n logical ones with 1 GB of memory each.
    Without a GPU the processor is divided into n logical CPUs, which share its cores and nothing else.
    Prints one line about the devices, the first time. TensorFlow creates the devices of a process once, before the
    first tensor: raises Problem if fewer than n exist already.
    """
    with no_stderr():
        import tensorflow as tf

        kind = "GPU" if tf.config.list_physical_devices("GPU") else "CPU"
        real = tf.config.list_physical_devices(kind)
        if len(real) < n:
            part = tf.config.LogicalDeviceConfiguration(memory_limit=LOGICAL_GPU_MB if kind == "GPU" else None)
            with contextlib.suppress(RuntimeError):  # the devices exist already
                for device, (begin, end) in zip(real, slices(n, len(real)), strict=True):
                    tf.config.set_logical_device_configuration(device, [part] * (end - begin))
        names = _list_devices()
    if len(names) < n:
        raise Problem(
            f"this kernel has {_describe_devices(names)}, not {n}, and TensorFlow creates devices once. Restart the "
            f"kernel (Kernel → Restart Kernel), and ask for {n} devices before you use TensorFlow for anything else."
        )
    made = f"{n} {kind}s" if len(real) >= n else f"{n} logical {kind}s, which share {len(real)} real {kind}"
    print(f"{made}: {', '.join(names[:n])}.")
    return names[:n]


def multi_gpu_model(model, gpus=None, cpu_merge=True, cpu_relocation=False):
    """A data-parallel version of a Keras model: each device runs it on its slice of the batch.

    model: a Keras 3 model whose inputs and outputs (one or several each) have the batch as their first axis.
    gpus: number of devices, 2 or more; None for all. They are the GPUs or, without a GPU, the (logical) CPUs.
    cpu_merge: concatenate the outputs of the slices on the CPU, not on the first device.
    cpu_relocation: move the weights to the CPU. They keep their values and still belong to `model`. Do this before a
        `tf.function` of your own uses the weights, because it would continue with the old ones.
    Returns a model that shares the weights of `model`, so that training one trains the other. Its outputs are those of
    `model` for a batch of any size; slices differ by one row at most. The gradient of a slice is computed on the
    device of the slice; gradients are added, and the step is taken, on the device of the weights. It is saved and
    loaded as `model`. A layer that computes over the batch (BatchNormalization in training) computes over its slice.
    Raises ValueError if there are fewer devices than requested, or fewer than 2.

    Source: keras.utils.multi_gpu_model of Keras 2.3, which left the device of the gradients to TensorFlow.
    """
    if gpus is not None and gpus < 2:
        raise ValueError(f"multi_gpu_model needs gpus=2 or more, or None for all devices: got {gpus}.")
    names = _list_devices()
    if len(names) < (gpus or 2):
        raise ValueError(
            f"multi_gpu_model needs {gpus or '2 or more'} devices, and this process has {_describe_devices(names)}. "
            f"Restart the kernel, and call course.keras.logical_devices({gpus or 2}) before the first tensor."
        )
    devices = names[:gpus]
    if cpu_relocation:
        _relocate(model)
    return _make_replicas_class()(model, devices, HOST if cpu_merge else devices[0])


def _relocate(model):
    """Move the weights of a model to the CPU."""
    import tensorflow as tf

    with tf.device(HOST):
        for weight in model.weights:
            if _shorten(weight.value.device) != HOST:
                weight._initialize(weight.numpy())  # a new variable within the same Keras variable
    # Drop the graphs that hold the old variables.
    model.train_function = model.test_function = model.predict_function = None


def slices(rows, n):
    """The slices into which `multi_gpu_model` cuts a batch: n pairs (begin, end); sizes differ by one row at most.

    rows: number of rows, an int or a tensor; the ends have the same type. With fewer rows than n some slices are empty.
    """
    edges = [rows * i // n for i in range(n + 1)]
    return list(itertools.pairwise(edges))


def trace(function, *args):
    """Where and when each operation of a call of `function(*args)` ran, according to TensorFlow's profiler.

    function: runs as a graph, such as a `tf.function` or the method `model.train_on_batch`. It is called twice: once to
    learn the device of each operation in its graphs, and once with the profiler.
    Returns an `Operations`: a list with one dict per operation, in the order of their start, with the keys "device"
    ("CPU:1"), "kind" ("MatMul"), "name" (in the graph, with its layer's name), "start" and "end" (seconds).
    The profiler leaves out an operation that takes almost no time after it ran some ninety times in a loop.
    Raises Problem if no graph ran.
    """
    import tensorflow as tf
    from tensorflow.python.eager import context
    from tensorflow.tsl.profiler.protobuf import xplane_pb2

    eager = context.context()
    with no_stderr(), tempfile.TemporaryDirectory() as folder:  # the profiler prints messages
        eager.clear_kernel_cache()  # graphs are exported only when they are compiled
        eager.enable_run_metadata()
        try:
            function(*args)
            graphs = eager.export_run_metadata().function_graphs
        finally:
            eager.disable_run_metadata()
        device_of = {node.name: node.device for each in graphs for part in each.partition_graphs for node in part.node}
        tf.profiler.experimental.start(folder)
        try:
            function(*args)
        finally:
            tf.profiler.experimental.stop()
        (file,) = Path(folder).rglob("*.xplane.pb")
        space = xplane_pb2.XSpace.FromString(file.read_bytes())
    operations = Operations(sorted(_read_profile(space, device_of), key=lambda each: each["start"]))
    if not operations:
        raise Problem("nothing ran as a graph: pass trace a tf.function, or a method such as model.train_on_batch.")
    zero = operations[0]["start"]
    for each in operations:
        each["start"], each["end"] = each["start"] - zero, each["end"] - zero
    return operations


class Operations(list):
    """The operations of a `trace`, with a picture."""

    def timeline(self, title="Which device computed when"):
        """Draw one row per device, with one bar per operation; returns a Plot."""
        return plots.devices(self, title=title)


def _read_profile(space, device_of):
    """The operations in a profile (an XSpace) whose device is known, as `trace` returns them."""
    for plane in space.planes:
        names = {number: each.name for number, each in plane.event_metadata.items()}
        keys = {number: each.name for number, each in plane.stat_metadata.items()}
        for line in plane.lines:
            for event in line.events:
                # A GPU's record has the names of kernels; the operation that launched a kernel is one of its stats.
                launchers = [
                    stat.str_value or keys.get(stat.ref_value, "")
                    for stat in event.stats
                    if keys[stat.metadata_id] == "tf_op"
                ]
                name, _, kind = (launchers or [names[event.metadata_id]])[0].rpartition(":")
                if name in device_of:
                    start = line.timestamp_ns / 1e9 + event.offset_ps / 1e12
                    yield {
                        "device": _shorten(device_of[name]),
                        "kind": FUSED.sub("", kind),
                        "name": name,
                        "start": start,
                        "end": start + event.duration_ps / 1e12,
                    }


@functools.cache
def _make_replicas_class():
    """The class of the model that multi_gpu_model returns; it can be defined only after Keras is imported."""
    import keras
    import tensorflow as tf

    class Replicas(keras.Model):
        """`base` on several devices: slices of the batch, their outputs concatenated at `merge_at`."""

        supports_jit = False  # XLA would put everything on one device

        def __init__(self, base, devices, merge_at):
            super().__init__(name=f"{base.name}_on_{len(devices)}_devices")
            self.base, self.devices, self.merge_at = base, devices, merge_at
            self.built = base.built

        def call(self, inputs, training=None):
            rows = tf.shape(tf.nest.flatten(inputs)[0])[0]
            outputs = []
            for device, (begin, end) in zip(self.devices, slices(rows, len(self.devices)), strict=True):
                # An empty slice borrows one row and drops its output: the mean over no rows is not a number.
                last = tf.maximum(end, begin + 1)
                with tf.device(device):
                    own = tf.nest.map_structure(lambda x, begin=begin, end=last: x[begin:end], inputs)
                computed = _on_device(device, functools.partial(self.base, training=training), own)
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
    """Compute function(inputs) with its operations, and those of its gradient, on `device`.

    `tf.device` applies while operations are created. Those of the gradient are created later, outside of it, and
    TensorFlow would put them on the device of the weights.
    """
    import tensorflow as tf

    @tf.custom_gradient
    def placed(*flat):
        with tf.device(device), tf.GradientTape() as tape:
            tape.watch([x for x in flat if x.dtype.is_floating])
            outputs = function(tf.nest.pack_sequence_as(inputs, flat))

        def gradient(*upstream, variables=()):
            sources = [*flat, *variables]
            with tf.device(device):
                gradients = tape.gradient(
                    tf.nest.flatten(outputs), sources, upstream, unconnected_gradients=tf.UnconnectedGradients.ZERO
                )
            return gradients[: len(flat)], gradients[len(flat) :]

        return outputs, gradient

    return placed(*tf.nest.flatten(inputs))


def _list_devices():
    """The names of this process's GPUs or, without a GPU, of its CPUs; creates them if they do not exist yet."""
    with no_stderr():
        import tensorflow as tf

        devices = tf.config.list_logical_devices("GPU") or tf.config.list_logical_devices("CPU")
    return tuple(_shorten(device.name) for device in devices)


def _shorten(name):
    """ "CPU:1" from the end of "/job:localhost/replica:0/task:0/device:CPU:1"."""
    return name.rpartition("device:")[2]


def _describe_devices(names):
    """ "one device (CPU:0)" or "2 devices (CPU:0, CPU:1)"."""
    return f"{len(names) if len(names) > 1 else 'one'} device{'s' * (len(names) > 1)} ({', '.join(names)})"


@contextlib.contextmanager
def no_stderr():
    """Discard everything written to file descriptor 2: these lines come from C++, which bypasses sys.stderr."""
    kept = os.dup(2)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)
