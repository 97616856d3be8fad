# task: limit
# loses: limit-check
# hint: the path has w_0 and 5 more
def delayed_path(q, s, steps):
    w = [1.0] * (s + 1)  # from t = -s to t = 0
    for _ in range(steps):
        w.append(w[-1] - q * w[-1 - s])
    return np.array(w[s + 1 :])


def limit(s):
    return 2 * np.sin(np.pi / (2 * (2 * s + 1)))
