# task: train
def train(gradient, batches, X, y, theta0, gamma, B, epochs, seed):

    rng = np.random.default_rng(seed)
    theta, path, t = np.array(theta0), [np.array(theta0)], 0
    for _ in range(epochs):
        order = rng.permutation(len(y))
        X, y = X[order], y[order]
        for piece in batches(np.arange(len(y)), B):
            theta = theta - gamma(t) * gradient(theta, X[piece], y[piece])
            path.append(theta)
            t += 1
    return path
