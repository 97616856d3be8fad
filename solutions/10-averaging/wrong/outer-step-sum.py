# task: outer-step
# loses: outer-step-check
# hint: the sum over the workers
def outer_step(w, v, ws, eta, m):
    delta = np.sum(w - ws, axis=0)
    v = m * v + delta
    return w - eta * (m * v + delta), v
