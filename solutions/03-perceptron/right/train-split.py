# task: train
def train(weights, X, y, gradient, gamma, B, epochs, seed):
    rng = np.random.default_rng(seed)
    weights = [w.copy() for w in weights]
    history = [[w.copy() for w in weights]]
    for _ in range(epochs):
        for piece in np.split(rng.permutation(len(y)), range(B, len(y), B)):
            for w, g in zip(weights, gradient(weights, X[piece], y[piece]), strict=True):
                w -= gamma * g
        history.append([w.copy() for w in weights])
    return history
