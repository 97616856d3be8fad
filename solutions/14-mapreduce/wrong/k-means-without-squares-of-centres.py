# task: k-means
# loses: k-means-check
# hint: by hand the keys are 0, 0, 1
def nearest(shard, centres):
    squares = -2 * shard @ centres.T
    return squares.argmin(axis=1), np.column_stack([shard, np.ones(len(shard))])


def move_centres(keys, rows, centres):
    moved = centres.copy()
    moved[keys] = rows[:, :-1] / rows[:, -1:]
    return moved
