# task: limit
def delayed_path(q, s, steps):
    w = np.ones(steps + 1 + s)
    for t in range(s + 1, steps + 1 + s):
        w[t] = w[t - 1] - q * w[t - 1 - s]
    return w[s:]


def limit(s):
    theta = np.pi / (2 * s + 1)
    return abs(np.exp(1j * theta) - 1)
