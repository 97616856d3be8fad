# task: run-on
# loses: run-on-check
# hint: call the layer inside `with tf.device(device):`, not before
def run_on(layer, x, device):
    """layer(x), with its operations on `device`."""
    tf, _, _ = tools()
    y = layer(x)
    with tf.device(device):
        return tf.identity(y)
