# task: train
# loses: train-check
# hint: not a new random draw for each batch
def train(gradient, batches, X, y, theta0, gamma, B, epochs, seed):

    rng = np.random.default_rng(seed)
    path = [theta0]
    for _ in range(epochs):
        for piece in batches(np.arange(len(y)), B):
            piece = rng.integers(len(y), size=len(piece))
            path.append(path[-1] - gamma(len(path) - 1) * gradient(path[-1], X[piece], y[piece]))
    return np.array(path)
