# task: train
# loses: train-gamma-check
# hint: t counted epochs
def train(gradient, batches, X, y, theta0, gamma, B, epochs, seed):

    rng = np.random.default_rng(seed)
    path = [theta0]
    for t in range(epochs):
        for piece in batches(rng.permutation(len(y)), B):
            path.append(path[-1] - gamma(t) * gradient(path[-1], X[piece], y[piece]))
    return np.array(path)
