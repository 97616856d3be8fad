# task: k-means
# loses: k-means-check
# hint: each value is the point and a 1 behind it
def nearest(shard, centres):
    squares = (centres**2).sum(axis=1) - 2 * shard @ centres.T
    return squares.argmin(axis=1), shard.copy()


def move_centres(keys, rows, centres):
    moved = centres.copy()
    moved[keys] = rows[:, :-1] / rows[:, -1:]
    return moved
