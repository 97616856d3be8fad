# task: mirrored
# loses: mirrored-check
# hint: shuffle=False
def mirrored(build, x, y, devices, B, epochs):
    """The losses of the epochs of training under MirroredStrategy on `devices`; a list.

    build(): makes and compiles the model. B: rows of a batch, of all devices together.
    """
    tf, _, _ = tools()
    strategy = tf.distribute.MirroredStrategy(devices, cross_device_ops=tf.distribute.ReductionToOneDevice())
    with strategy.scope():
        model = build()
    tf.random.set_seed(1)
    return model.fit(x, y, batch_size=B, epochs=epochs, verbose=0).history["loss"]
