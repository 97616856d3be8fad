# task: train
# loses: train-check
# hint: changes `weights`
def train(weights, X, y, gradient, gamma, B, epochs, seed):
    rng = np.random.default_rng(seed)
    history = [weights]
    for _ in range(epochs):
        order = rng.permutation(len(y))
        for first in range(0, len(y), B):
            piece = order[first : first + B]
            steps = gradient(weights, X[piece], y[piece])
            for w, step in zip(weights, steps, strict=True):
                w -= gamma * step
        history.append(weights)
    return history
