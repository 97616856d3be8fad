# task: relu
# loses: relu-check
# hint: keeps the negative numbers
def relu(v):
    return np.minimum(v, 0)


def relu_prime(v):
    return np.where(v > 0, 1.0, 0.0)
