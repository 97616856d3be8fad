# task: relu
# loses: relu-check
# hint: The corner is at 0
def relu(v):
    return v * (v > -1)


def relu_prime(v):
    return np.where(v > 0, 1.0, 0.0)
