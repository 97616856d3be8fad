# task: train
# loses: train-check
# hint: leave out those of the start
def train(comm, X, y, weights, gamma, steps, average=average_gradients):
    path = [weights]
    for _ in range(steps):
        gradients = average(comm, network_gradients(weights, X, y), len(y))
        weights = [w - gamma * gradient for w, gradient in zip(weights, gradients, strict=True)]
        path.append(weights)
    return path
