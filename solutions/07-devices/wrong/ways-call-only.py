# task: ways
# loses: ways-check
# hint: tf.function runs `compute` once
def ways():
    return ["d"]
