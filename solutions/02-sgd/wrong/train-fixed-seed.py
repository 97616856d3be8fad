# task: train
# loses: train-shuffle-check
# hint: did you write a number instead of
def train(gradient, batches, X, y, theta0, gamma, B, epochs, seed):

    rng = np.random.default_rng(0)
    path = [theta0]
    for _ in range(epochs):
        for piece in batches(rng.permutation(len(y)), B):
            path.append(path[-1] - gamma(len(path) - 1) * gradient(path[-1], X[piece], y[piece]))
    return np.array(path)
