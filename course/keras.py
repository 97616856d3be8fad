"""TensorFlow and Keras, imported without the dozen lines that TensorFlow writes about processors and missing GPUs.

They are imported where they are first used and nowhere else: it takes seconds, and no process that is forked
afterwards may have them.
"""

import contextlib
import os


def quiet_import():
    """Import TensorFlow and Keras, which takes some seconds the first time; returns the two modules."""
    with no_stderr():
        import keras
        import tensorflow

        tensorflow.constant(0)  # the first tensor makes the devices, which tells about them too
    return tensorflow, keras


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
