# task: train
# loses: train-shuffle-check
# hint: only the batches are shuffled
def train(gradient, batches, X, y, theta0, gamma, B, epochs, seed):

    rng = np.random.default_rng(seed)
    pieces = batches(rng.permutation(len(y)), B)
    path = [theta0]
    for _ in range(epochs):
        for k in rng.permutation(len(pieces)):
            piece = pieces[k]
            path.append(path[-1] - gamma(len(path) - 1) * gradient(path[-1], X[piece], y[piece]))
    return np.array(path)
