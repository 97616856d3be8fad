# task: limit
def delayed_path(q, s, steps):
    old, path = [1.0] * s, [1.0]
    for _ in range(steps):
        old.append(path[-1])
        path.append(path[-1] - q * old.pop(0))
    return np.array(path)


def limit(s):
    return np.sqrt(2 - 2 * np.cos(np.pi / (2 * s + 1)))
