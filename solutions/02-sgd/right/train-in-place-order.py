# task: train
def train(gradient, batches, X, y, theta0, gamma, B, epochs, seed):

    rng = np.random.default_rng(seed)
    order = np.arange(len(y))
    path = [theta0]
    for epoch in range(epochs):
        rng.shuffle(order)
        pieces = batches(order, B)
        for k, piece in enumerate(pieces):
            step = gamma(epoch * len(pieces) + k) * gradient(path[-1], X[piece], y[piece])
            path.append(path[-1] - step)
    return np.stack(path)
