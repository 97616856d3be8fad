# task: shards
# loses: shards-check
# hint: 4 shards were asked for
def shards(x, y, k):
    return np.array_split(x, k), np.array_split(y, k)
