# task: page-rank
def follow(shard, p):
    pages, links = shard
    keys, values = [], []
    for u in pages.tolist():
        out = links[links[:, 0] == u, 1].tolist()
        keys += out or [len(p)]
        values += [p[u] / max(len(out), 1)] * max(len(out), 1)
    return np.array(keys, dtype=np.int64), np.array(values, dtype=float).reshape(-1, 1)


def new_ranks(keys, rows, n, alpha=0.85):
    found = {int(key): float(row[0]) for key, row in zip(keys, rows, strict=True)}
    return np.array([(1 - alpha) / n + alpha * (found.get(v, 0) + found.get(n, 0) / n) for v in range(n)])
