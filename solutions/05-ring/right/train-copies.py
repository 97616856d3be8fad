# task: train
def train(comm, X, y, weights, gamma, steps, average=average_gradients):
    weights, path = [w.copy() for w in weights], []
    while len(path) < steps:
        for w, gradient in zip(weights, average(comm, network_gradients(weights, X, y), len(X)), strict=True):
            w -= gamma * gradient
        path.append([w.copy() for w in weights])
    return path
