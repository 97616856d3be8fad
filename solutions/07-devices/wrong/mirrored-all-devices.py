# task: mirrored
# loses: mirrored-check
# hint: one for each device of the machine
def mirrored(build, x, y, devices, B, epochs):
    tf, _, _ = tools()
    strategy = tf.distribute.MirroredStrategy(cross_device_ops=tf.distribute.ReductionToOneDevice())
    with strategy.scope():
        model = build()
    return model.fit(x, y, batch_size=B, epochs=epochs, shuffle=False, verbose=0).history["loss"]
