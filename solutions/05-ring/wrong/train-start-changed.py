# task: train
# loses: train-check
# hint: changes `weights`
def train(comm, X, y, weights, gamma, steps, average=average_gradients):
    path = []
    for _ in range(steps):
        gradients = average(comm, network_gradients(weights, X, y), len(y))
        for w, gradient in zip(weights, gradients, strict=True):
            w -= gamma * gradient
        path.append([w.copy() for w in weights])
    return path
