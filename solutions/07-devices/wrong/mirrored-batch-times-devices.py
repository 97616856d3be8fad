# task: mirrored
# loses: mirrored-check
# hint: yours trained with batches of 60
def mirrored(build, x, y, devices, B, epochs):
    """The losses of the epochs of training under MirroredStrategy on `devices`; a list.

    build(): makes and compiles the model. B: rows of a batch, of all devices together.
    """
    tf, _, _ = tools()
    strategy = tf.distribute.MirroredStrategy(devices, cross_device_ops=tf.distribute.ReductionToOneDevice())
    with strategy.scope():
        model = build()
    history = model.fit(x, y, batch_size=B * len(devices), epochs=epochs, shuffle=False, verbose=0)
    return history.history["loss"]
