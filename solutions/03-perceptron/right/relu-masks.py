# task: relu
def relu(v):
    return v * (v > 0)


def relu_prime(v):
    return (v > 0).astype(float)
