# task: limit
# loses: limit-check
# hint: 0.309 lacks a factor
def delayed_path(q, s, steps):
    w = [1.0] * (s + 1)  # from t = -s to t = 0
    for _ in range(steps):
        w.append(w[-1] - q * w[-1 - s])
    return np.array(w[s:])


def limit(s):
    return np.sin(np.pi / (2 * (2 * s + 1)))
