# task: train
# loses: train-check, train-shuffle-check, train-gamma-check
# hint: one batch per epoch is missing
def train(gradient, batches, X, y, theta0, gamma, B, epochs, seed):

    rng = np.random.default_rng(seed)
    path = [theta0]
    for _ in range(epochs):
        for piece in batches(rng.permutation(len(y)), B)[:-1]:
            path.append(path[-1] - gamma(len(path) - 1) * gradient(path[-1], X[piece], y[piece]))
    return np.array(path)
