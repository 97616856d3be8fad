# task: k-means
# loses: k-means-check
# hint: without points: wrong centres
def nearest(shard, centres):
    squares = (centres**2).sum(axis=1) - 2 * shard @ centres.T
    return squares.argmin(axis=1), np.column_stack([shard, np.ones(len(shard))])


def move_centres(keys, rows, centres):
    moved = centres.copy()
    moved[keys] = rows[:, :-1] / rows[:, 1:2]
    return moved
