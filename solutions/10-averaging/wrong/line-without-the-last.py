# task: line
# loses: line-check
# hint: the last point is missing
def line(loss, w_a, w_b, points):
    return np.array([loss((1 - t) * w_a + t * w_b) for t in np.arange(points) / points])
