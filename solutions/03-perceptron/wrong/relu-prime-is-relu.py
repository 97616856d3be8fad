# task: relu
# loses: relu-check
# hint: returned the ReLU itself
def relu(v):
    return np.maximum(v, 0)


def relu_prime(v):
    return np.maximum(v, 0)
