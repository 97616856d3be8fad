# task: relu
# loses: relu-check
# hint: relu_prime returned None
def relu(v):
    return np.maximum(v, 0)


def relu_prime(v):
    np.where(v > 0, 1.0, 0.0)
