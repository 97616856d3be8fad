# task: line
# loses: line-check
# hint: the first point is missing
def line(loss, w_a, w_b, points):
    return np.array([loss((1 - t) * w_a + t * w_b) for t in np.linspace(0, 1, points + 2)[1:-1]])
