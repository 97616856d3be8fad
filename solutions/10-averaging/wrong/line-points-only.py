# task: line
# loses: line-check
# hint: the losses at -1, 0, 1, 2 are
def line(loss, w_a, w_b, points):
    return np.array([(1 - t) * w_a + t * w_b for t in np.linspace(0, 1, points)])
