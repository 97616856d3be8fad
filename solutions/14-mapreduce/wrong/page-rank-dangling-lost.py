# task: page-rank
# loses: page-rank-check
# hint: its p belongs to the key n
def follow(shard, p):
    pages, links = shard
    degrees = np.bincount(links[:, 0], minlength=len(p))
    dangling = pages[degrees[pages] == 0]
    keys = links[:, 1]
    values = p[links[:, 0]] / degrees[links[:, 0]]
    return keys, values[:, None]


def new_ranks(keys, rows, n, alpha=0.85):
    sums = np.zeros(n + 1)
    sums[keys] = rows[:, 0]
    return (1 - alpha) / n + alpha * (sums[:n] + sums[n] / n)
