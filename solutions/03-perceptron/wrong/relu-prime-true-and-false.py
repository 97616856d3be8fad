# task: relu
# loses: relu-check
# hint: returned True and False
def relu(v):
    return np.maximum(v, 0)


def relu_prime(v):
    return v > 0
