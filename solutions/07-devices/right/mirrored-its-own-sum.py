# task: mirrored
def mirrored(build, x, y, devices, B, epochs):
    """The losses of the epochs of training under MirroredStrategy on `devices`; a list.

    build(): makes and compiles the model. B: rows of a batch, of all devices together.
    """
    tf, _, _ = tools()
    strategy = tf.distribute.MirroredStrategy(devices)
    with strategy.scope():
        model = build()
        history = model.fit(x, y, batch_size=B, epochs=epochs, shuffle=False, verbose=0)
    return [float(loss) for loss in history.history["loss"]]
