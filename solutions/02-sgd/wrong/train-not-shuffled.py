# task: train
# loses: train-shuffle-check
# hint: came in the order of the data
def train(gradient, batches, X, y, theta0, gamma, B, epochs, seed):

    path = [theta0]
    for _ in range(epochs):
        for piece in batches(np.arange(len(y)), B):
            path.append(path[-1] - gamma(len(path) - 1) * gradient(path[-1], X[piece], y[piece]))
    return np.array(path)
