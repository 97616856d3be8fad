# task: train
# loses: train-check
# hint: both need the same indices
def train(gradient, batches, X, y, theta0, gamma, B, epochs, seed):

    rng = np.random.default_rng(seed)
    path = [theta0]
    for _ in range(epochs):
        X = X[rng.permutation(len(y))]
        for piece in batches(np.arange(len(y)), B):
            path.append(path[-1] - gamma(len(path) - 1) * gradient(path[-1], X[piece], y[piece]))
    return np.array(path)
