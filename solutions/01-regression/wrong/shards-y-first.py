# task: shards
# loses: shards-check
# hint: in your pairs y comes first
def shards(x, y, k):
    return list(zip(np.array_split(y, k), np.array_split(x, k), strict=True))
