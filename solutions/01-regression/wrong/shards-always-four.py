# task: shards
# loses: shards-check
# hint: which is not always 4
def shards(x, y, k):
    return list(zip(np.array_split(x, 4), np.array_split(y, 4), strict=True))
