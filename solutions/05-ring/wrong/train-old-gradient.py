# task: train
# loses: train-check
# hint: at the newest weights
def train(comm, X, y, weights, gamma, steps, average=average_gradients):
    path, start = [], weights
    for _ in range(steps):
        gradients = average(comm, network_gradients(start, X, y), len(y))
        weights = [w - gamma * gradient for w, gradient in zip(weights, gradients, strict=True)]
        path.append(weights)
    return path
