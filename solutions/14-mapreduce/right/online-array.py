# task: online
def play_online(X, y, D, G):
    W = np.zeros((len(X) + 1, X.shape[1]))
    for t in range(len(X)):
        error = X[t] @ W[t] - y[t]
        gradient = X[t] if error > 0 else -X[t] if error < 0 else 0 * X[t]
        step = W[t] - D / G / np.sqrt(t + 1) * gradient
        norm = np.linalg.norm(step)
        W[t + 1] = step if norm <= D / 2 else D / 2 * step / norm
    return W[:-1]
