# task: replicate
# loses: replicate-check
# hint: every device computed the whole batch
def replicate(model, x, devices):
    """model(x): each slice of the rows of x on its device, and the outputs concatenated on HOST."""
    tf, _, _ = tools()
    B = tf.shape(x)[0]
    parts = []
    for device in devices:
        with tf.device(device):
            parts.append(model(x))
    with tf.device(HOST):
        return tf.concat(parts, axis=0)
