# task: outer-step
# loses: outer-step-check
# hint: the old velocity came back
def outer_step(w, v, ws, eta, m):
    delta = w - np.mean(ws, axis=0)
    new = m * v + delta
    return w - eta * (m * new + delta), v
