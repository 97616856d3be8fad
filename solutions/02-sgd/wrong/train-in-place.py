# task: train
# loses: train-check, train-gamma-check
# hint: changes `theta0`
def train(gradient, batches, X, y, theta0, gamma, B, epochs, seed):

    rng = np.random.default_rng(seed)
    theta, path, t = theta0, [theta0], 0
    for _ in range(epochs):
        for piece in batches(rng.permutation(len(y)), B):
            theta -= gamma(t) * gradient(theta, X[piece], y[piece])
            path.append(theta)
            t += 1
    return np.array(path)
