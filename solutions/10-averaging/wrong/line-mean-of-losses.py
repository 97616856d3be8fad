# task: line
# loses: line-check
# hint: these are means of the two losses
def line(loss, w_a, w_b, points):
    return np.array([(1 - t) * loss(w_a) + t * loss(w_b) for t in np.linspace(0, 1, points)])
