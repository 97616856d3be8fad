# task: page-rank
def follow(shard, p):
    pages, links = shard
    n = len(p)
    u, v = links.T
    degree = np.zeros(n)
    np.add.at(degree, u, 1)
    lost = np.setdiff1d(pages, u)
    return np.append(v, [n] * len(lost)).astype(np.int64), np.append(p[u] / degree[u], p[lost])[:, np.newaxis]


def new_ranks(keys, rows, n, alpha=0.85):
    s = np.bincount(keys, weights=rows[:, 0], minlength=n + 1)
    return alpha * s[:-1] + (1 - alpha + alpha * s[-1]) / n
