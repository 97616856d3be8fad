# task: limit
# loses: limit-check
# hint: NumPy's angles are in radians
def delayed_path(q, s, steps):
    w = [1.0] * (s + 1)  # from t = -s to t = 0
    for _ in range(steps):
        w.append(w[-1] - q * w[-1 - s])
    return np.array(w[s:])


def limit(s):
    return 2 * np.sin(180 / (2 * (2 * s + 1)))
