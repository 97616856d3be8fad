# task: k-means
# loses: k-means-check
# hint: the 1 comes behind the point
def nearest(shard, centres):
    squares = (centres**2).sum(axis=1) - 2 * shard @ centres.T
    return squares.argmin(axis=1), np.column_stack([np.ones(len(shard)), shard])


def move_centres(keys, rows, centres):
    moved = centres.copy()
    moved[keys] = rows[:, :-1] / rows[:, -1:]
    return moved
