# task: train
# loses: train-shuffle-check
# hint: used the same permutation
def train(gradient, batches, X, y, theta0, gamma, B, epochs, seed):

    path = [theta0]
    for _ in range(epochs):
        rng = np.random.default_rng(seed)
        for piece in batches(rng.permutation(len(y)), B):
            path.append(path[-1] - gamma(len(path) - 1) * gradient(path[-1], X[piece], y[piece]))
    return np.array(path)
