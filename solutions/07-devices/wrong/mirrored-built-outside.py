# task: mirrored
# loses: mirrored-check
# hint: call build() inside `with strategy.scope():`
def mirrored(build, x, y, devices, B, epochs):
    """The losses of the epochs of training under MirroredStrategy on `devices`; a list.

    build(): makes and compiles the model. B: rows of a batch, of all devices together.
    """
    tf, _, _ = tools()
    model = build()
    strategy = tf.distribute.MirroredStrategy(devices, cross_device_ops=tf.distribute.ReductionToOneDevice())
    with strategy.scope():
        history = model.fit(x, y, batch_size=B, epochs=epochs, shuffle=False, verbose=0)
    return history.history["loss"]
