# task: line
# loses: line-check
# hint: which the caller still needs
def line(loss, w_a, w_b, points):
    step, losses = (w_b - w_a) / (points - 1), []
    for _ in range(points):
        losses.append(loss(w_a))
        w_a += step
    return np.array(losses)
