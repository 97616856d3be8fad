# task: shards
# loses: shards-check
# hint: two points are lost
def shards(x, y, k):
    size = len(x) // k
    return [(x[i * size : (i + 1) * size], y[i * size : (i + 1) * size]) for i in range(k)]
