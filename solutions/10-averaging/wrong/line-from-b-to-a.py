# task: line
# loses: line-check
# hint: yours goes from w_b to w_a
def line(loss, w_a, w_b, points):
    return np.array([loss(t * w_a + (1 - t) * w_b) for t in np.linspace(0, 1, points)])
