# task: k-means
def nearest(shard, centres):
    keys = np.zeros(len(shard), np.int64)
    for i, point in enumerate(shard):
        keys[i] = min(range(len(centres)), key=lambda k: ((point - centres[k]) ** 2).sum())
    return keys, np.append(shard, np.ones((len(shard), 1)), axis=1)


def move_centres(keys, rows, centres):
    found = dict(zip(keys.tolist(), rows, strict=True))
    return np.array([found[k][:-1] / found[k][-1] if k in found else centres[k] for k in range(len(centres))])
