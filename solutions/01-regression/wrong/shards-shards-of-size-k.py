# task: shards
# loses: shards-check
# hint: 4 shards were asked for
def shards(x, y, k):
    return [(x[i : i + k], y[i : i + k]) for i in range(0, len(x), k)]
