# task: relu
# loses: relu-check
# hint: its slope there is 0, not -1
def relu(v):
    return np.maximum(v, 0)


def relu_prime(v):
    return np.sign(v)
