# task: train
# loses: train-check, train-gamma-check
# hint: changes one array again and again
def train(gradient, batches, X, y, theta0, gamma, B, epochs, seed):

    rng = np.random.default_rng(seed)
    theta, t = theta0.copy(), 0
    path = [theta]
    for _ in range(epochs):
        for piece in batches(rng.permutation(len(y)), B):
            theta -= gamma(t) * gradient(theta, X[piece], y[piece])
            path.append(theta)
            t += 1
    return np.array(path)
