# task: line
def line(loss, w_a, w_b, points):
    losses = np.empty(points)
    for i in range(points):
        losses[i] = loss(w_a + i / (points - 1) * (w_b - w_a))
    return losses
