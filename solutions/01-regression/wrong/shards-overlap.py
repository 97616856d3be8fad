# task: shards
# loses: shards-check
# hint: in two shards
def shards(x, y, k):
    size = len(x) // k
    return [(x[i * size : (i + 1) * size + 1], y[i * size : (i + 1) * size + 1]) for i in range(k)]
