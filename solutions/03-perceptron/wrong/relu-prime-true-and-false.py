# task: relu
# loses: relu-check
# hint: True and False came back
def relu(v):
    return np.maximum(v, 0)


def relu_prime(v):
    return v > 0
