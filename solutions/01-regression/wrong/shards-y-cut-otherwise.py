# task: shards
# loses: shards-check
# hint: stay together
def shards(x, y, k):
    return [(x[i::k], part) for i, part in enumerate(np.array_split(y, k))]
