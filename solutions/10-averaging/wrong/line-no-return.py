# task: line
# loses: line-check
# hint: line returned None
def line(loss, w_a, w_b, points):
    losses = [loss((1 - t) * w_a + t * w_b) for t in np.linspace(0, 1, points)]
