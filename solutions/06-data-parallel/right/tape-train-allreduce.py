# task: tape-train
def tape_train(comm, w, X, y, gamma, steps, pin=pin_tensorflow):
    import horovod.tensorflow as hvd
    import tensorflow as tf

    hvd.init()
    pin(hvd.local_rank())
    w, b = tf.Variable(w), tf.Variable(10 * w)
    hvd.broadcast_variables([w, b], root_rank=0)
    for _ in range(steps):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((w * X + b - y) ** 2)
        for variable, gradient in zip([w, b], tape.gradient(loss, [w, b]), strict=True):
            variable.assign_sub(gamma * hvd.size() * hvd.allreduce(gradient))
    return [float(w.numpy()), float(b.numpy())]
