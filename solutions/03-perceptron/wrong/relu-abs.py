# task: relu
# loses: relu-check
# hint: turns -2 into 2
def relu(v):
    return np.abs(v)


def relu_prime(v):
    return np.where(v > 0, 1.0, 0.0)
