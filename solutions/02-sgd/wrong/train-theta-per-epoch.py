# task: train
# loses: train-check, train-gamma-check
# hint: you kept one theta per epoch
def train(gradient, batches, X, y, theta0, gamma, B, epochs, seed):

    rng = np.random.default_rng(seed)
    theta, path, t = theta0, [theta0], 0
    for _ in range(epochs):
        for piece in batches(rng.permutation(len(y)), B):
            theta = theta - gamma(t) * gradient(theta, X[piece], y[piece])
            t += 1
        path.append(theta)
    return np.array(path)
