# task: replicate
# loses: replicate-places-check
# hint: all products ran on
def replicate(model, x, devices):
    """model(x): each slice of the rows of x on its device, and the outputs concatenated on HOST."""
    tf, _, _ = tools()
    B = tf.shape(x)[0]
    parts = [model(x[begin:end]) for begin, end in slices(B, len(devices))]
    with tf.device(HOST):
        return tf.concat(parts, axis=0)
