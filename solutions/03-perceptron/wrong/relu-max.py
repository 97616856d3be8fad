# task: relu
# loses: relu-check
# hint: np.max finds the largest of all
def relu(v):
    return np.max(v, initial=0)


def relu_prime(v):
    return np.where(v > 0, 1.0, 0.0)
