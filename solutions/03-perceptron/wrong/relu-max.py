# task: relu
# loses: relu-check
# hint: np.maximum(v, 0) takes each entry
def relu(v):
    return np.max(v, initial=0)


def relu_prime(v):
    return np.where(v > 0, 1.0, 0.0)
