# task: train
def train(comm, X, y, weights, gamma, steps, average=average_gradients):
    path = []
    for _ in range(steps):
        gradients = network_gradients(weights, X, y)
        weights = [w - gamma * gradient for w, gradient in zip(weights, gradients, strict=True)]
        weights = average(comm, weights, len(y))
        path.append(weights)
    return path
