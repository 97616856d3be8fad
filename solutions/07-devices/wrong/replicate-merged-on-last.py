# task: replicate
# loses: replicate-places-check
# hint: inside a second scope
def replicate(model, x, devices):
    """model(x): each slice of the rows of x on its device, and the outputs concatenated on HOST."""
    tf, _, _ = tools()
    B = tf.shape(x)[0]
    parts = []
    for (begin, end), device in zip(slices(B, len(devices)), devices, strict=True):
        with tf.device(device):
            parts.append(model(x[begin:end]))
    with tf.device(device):
        return tf.concat(parts, axis=0)
