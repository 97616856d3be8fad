# task: page-rank
# loses: page-rank-check
# hint: Divide by the number of links of u
def follow(shard, p):
    pages, links = shard
    degrees = np.maximum(np.bincount(links[:, 1], minlength=len(p)), 1)
    dangling = pages[np.bincount(links[:, 0], minlength=len(p))[pages] == 0]
    keys = np.concatenate([links[:, 1], np.full(len(dangling), len(p))])
    values = np.concatenate([p[links[:, 0]] / degrees[links[:, 0]], p[dangling]])
    return keys, values[:, None]


def new_ranks(keys, rows, n, alpha=0.85):
    sums = np.zeros(n + 1)
    sums[keys] = rows[:, 0]
    return (1 - alpha) / n + alpha * (sums[:n] + sums[n] / n)
