# task: run-on
# loses: run-on-check
# hint: the scope takes `device`, not a fixed name
def run_on(layer, x, device):
    """layer(x), with its operations on `device`."""
    tf, _, _ = tools()
    with tf.device("CPU:1"):
        return layer(x)
