# task: run-on
def run_on(layer, x, device):
    """layer(x), with its operations on `device`."""
    tf, _, _ = tools()
    scope = tf.device(device)
    with scope:
        y = layer(x)
    return y
