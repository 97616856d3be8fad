# task: run-on
# loses: run-on-check
# hint: call the layer inside `with tf.device(device):`
def run_on(layer, x, device):
    """layer(x), with its operations on `device`."""
    tf, _, _ = tools()
    return layer(x)
