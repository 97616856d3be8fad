# task: limit
# loses: limit-check
# hint: the gradient is s + 1 updates old
def delayed_path(q, s, steps):
    w = [1.0] * (s + 2)  # from t = -s to t = 0
    for _ in range(steps):
        w.append(w[-1] - q * w[-2 - s])
    return np.array(w[s + 1 :])


def limit(s):
    return 2 * np.sin(np.pi / (2 * (2 * s + 1)))
