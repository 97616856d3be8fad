# task: relu
# loses: relu-check
# hint: which is the derivative
def relu(v):
    return np.where(v > 0, 1.0, 0.0)


def relu_prime(v):
    return np.where(v > 0, 1.0, 0.0)
