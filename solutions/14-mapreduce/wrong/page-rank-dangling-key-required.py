# task: page-rank
# loses: page-rank-check
# hint: raised IndexError
def follow(shard, p):
    pages, links = shard
    degrees = np.bincount(links[:, 0], minlength=len(p))
    dangling = pages[degrees[pages] == 0]
    keys = np.concatenate([links[:, 1], np.full(len(dangling), len(p))])
    values = np.concatenate([p[links[:, 0]] / degrees[links[:, 0]], p[dangling]])
    return keys, values[:, None]


def new_ranks(keys, rows, n, alpha=0.85):
    sums = np.zeros(n + 1)
    sums[keys] = rows[:, 0]
    return (1 - alpha) / n + alpha * (sums[:n] + rows[keys == n][0, 0] / n)
