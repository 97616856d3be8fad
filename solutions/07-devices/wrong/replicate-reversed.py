# task: replicate
# loses: replicate-check
# hint: concatenated in reverse
def replicate(model, x, devices):
    """model(x): each slice of the rows of x on its device, and the outputs concatenated on HOST."""
    tf, _, _ = tools()
    B = tf.shape(x)[0]
    parts = []
    for (begin, end), device in zip(slices(B, len(devices)), devices, strict=True):
        with tf.device(device):
            parts.insert(0, model(x[begin:end]))
    with tf.device(HOST):
        return tf.concat(parts, axis=0)
