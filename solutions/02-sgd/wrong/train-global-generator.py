# task: train
# loses: train-shuffle-check
# hint: NumPy's global generator
def train(gradient, batches, X, y, theta0, gamma, B, epochs, seed):
    np.random.seed(seed)
    path = [theta0]
    for _ in range(epochs):
        for piece in batches(np.random.permutation(len(y)), B):
            t = len(path) - 1
            path.append(path[-1] - gamma(t) * gradient(path[-1], X[piece], y[piece]))
    return np.array(path)
