# task: replicate
def replicate(model, x, devices):
    """model(x): each slice of the rows of x on its device, and the outputs concatenated on HOST."""
    tf, _, _ = tools()
    B = tf.shape(x)[0]
    edges = slices(B, len(devices))
    parts = [None] * len(devices)
    for i, device in enumerate(devices):
        with tf.device(device):
            parts[i] = model(x[edges[i][0] : edges[i][1]])
    with tf.device(HOST):
        merged = tf.concat(parts, 0)
    return merged
