# task: train
# loses: train-check
# hint: the weights run away
def train(weights, X, y, gradient, gamma, B, epochs, seed):
    rng = np.random.default_rng(seed)
    history = [weights]
    for _ in range(epochs):
        order = rng.permutation(len(y))
        for first in range(0, len(y), B):
            piece = order[first : first + B]
            steps = gradient(weights, X[piece], y[piece])
            weights = [w + gamma * step for w, step in zip(weights, steps, strict=True)]
        history.append(weights)
    return history
