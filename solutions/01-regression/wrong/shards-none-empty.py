# task: shards
# loses: shards-check
# hint: 2 points in 4 shards
def shards(x, y, k):
    k_now = min(k, len(x))
    return list(zip(np.array_split(x, k_now), np.array_split(y, k_now), strict=True))
