# task: k-means
# loses: k-means-check
# hint: 0 / 0
def nearest(shard, centres):
    squares = (centres**2).sum(axis=1) - 2 * shard @ centres.T
    return squares.argmin(axis=1), np.column_stack([shard, np.ones(len(shard))])


def move_centres(keys, rows, centres):
    moved = centres.copy()
    sums = np.zeros((len(centres), rows.shape[1]))
    sums[keys] = rows
    with np.errstate(all="ignore"):
        return sums[:, :-1] / sums[:, -1:]
