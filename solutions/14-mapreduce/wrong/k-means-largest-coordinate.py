# task: k-means
# loses: k-means-check
# hint: 7 centres: the nearest are
def nearest(shard, centres):
    squares = np.abs(shard[:, None] - centres).max(axis=2)
    return squares.argmin(axis=1), np.column_stack([shard, np.ones(len(shard))])


def move_centres(keys, rows, centres):
    moved = centres.copy()
    moved[keys] = rows[:, :-1] / rows[:, -1:]
    return moved
