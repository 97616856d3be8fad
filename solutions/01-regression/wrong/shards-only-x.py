# task: shards
# loses: shards-check
# hint: each shard is a pair
def shards(x, y, k):
    return np.array_split(x, k)
