# task: train
# loses: train-gamma-check
# hint: every step used gamma(0)
def train(gradient, batches, X, y, theta0, gamma, B, epochs, seed):

    rng = np.random.default_rng(seed)
    path, t = [theta0], 0
    for _ in range(epochs):
        for piece in batches(rng.permutation(len(y)), B):
            path.append(path[-1] - gamma(t) * gradient(path[-1], X[piece], y[piece]))
    return np.array(path)
