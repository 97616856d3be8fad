# task: shards
# loses: shards-check
# hint: Spread the remaining points
def shards(x, y, k):
    size = len(x) // k
    edges = [i * size for i in range(k)] + [len(x)]
    return [(x[edges[i] : edges[i + 1]], y[edges[i] : edges[i + 1]]) for i in range(k)]
