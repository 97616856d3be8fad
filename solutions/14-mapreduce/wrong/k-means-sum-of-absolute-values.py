# task: k-means
# loses: k-means-check
# hint: Nearest means the smallest sum of squares
def nearest(shard, centres):
    squares = np.abs(shard[:, None] - centres).sum(axis=2)
    return squares.argmin(axis=1), np.column_stack([shard, np.ones(len(shard))])


def move_centres(keys, rows, centres):
    moved = centres.copy()
    moved[keys] = rows[:, :-1] / rows[:, -1:]
    return moved
