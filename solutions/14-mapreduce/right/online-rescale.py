# task: online
def play_online(X, y, D, G):
    played = np.empty_like(X)
    w = np.zeros(X.shape[1])
    for t in range(len(X)):
        played[t] = w
        w = w - D / (G * (t + 1) ** 0.5) * np.sign(X[t].dot(w) - y[t]) * X[t]
        w /= max(1.0, 2 / D * np.linalg.norm(w))
    return played
