# task: relu
# loses: relu-check
# hint: at the corner v = 0
def relu(v):
    return np.maximum(v, 0)


def relu_prime(v):
    return np.where(v >= 0, 1.0, 0.0)
