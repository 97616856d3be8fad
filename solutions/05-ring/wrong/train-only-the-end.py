# task: train
# loses: train-check
# hint: return the weights after each step
def train(comm, X, y, weights, gamma, steps, average=average_gradients):
    for _ in range(steps):
        gradients = average(comm, network_gradients(weights, X, y), len(y))
        weights = [w - gamma * gradient for w, gradient in zip(weights, gradients, strict=True)]
    return weights
