# task: line
# loses: line-check
# hint: keeps about 7 digits
def line(loss, w_a, w_b, points):
    return np.array([loss((1 - t) * w_a + t * w_b) for t in np.linspace(0, 1, points)], dtype=np.float32)
