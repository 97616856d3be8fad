# task: train
# loses: train-gamma-check
# hint: t started again at 0
def train(gradient, batches, X, y, theta0, gamma, B, epochs, seed):

    rng = np.random.default_rng(seed)
    path = [theta0]
    for _ in range(epochs):
        for t, piece in enumerate(batches(rng.permutation(len(y)), B)):
            path.append(path[-1] - gamma(t) * gradient(path[-1], X[piece], y[piece]))
    return np.array(path)
