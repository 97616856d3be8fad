# task: line
def line(loss, w_a, w_b, points):
    return np.array([loss(w) for w in np.linspace(w_a, w_b, points)])
