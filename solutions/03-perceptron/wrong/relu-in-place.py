# task: relu
# loses: relu-check
# hint: changes `v`
def relu(v):
    v[v < 0] = 0
    return v


def relu_prime(v):
    return np.where(v > 0, 1.0, 0.0)
