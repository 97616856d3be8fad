# task: tape-train
# loses: tape-train-check
# hint: broadcast them
def tape_train(comm, w, X, y, gamma, steps):
    """Train y = w x + b, from w and b = 10 w, by the mean squared error and Horovod; returns [w, b].

    X, y: this rank's rows, arrays of float32. w, b: become variables of TensorFlow.
    """
    import horovod.tensorflow as hvd
    import tensorflow as tf

    hvd.init()
    pin_tensorflow(hvd.local_rank())
    w, b = tf.Variable(w), tf.Variable(10 * w)
    for _ in range(steps):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((w * X + b - y) ** 2)
        tape = hvd.DistributedGradientTape(tape)
        for variable, gradient in zip([w, b], tape.gradient(loss, [w, b]), strict=True):
            variable.assign_sub(gamma * hvd.size() * gradient)
    return [float(w.numpy()), float(b.numpy())]
