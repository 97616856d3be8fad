# task: outer-step
# loses: outer-step-check
# hint: outer_step returned None
def outer_step(w, v, ws, eta, m):
    delta = w - np.mean(ws, axis=0)
    v = m * v + delta
    w = w - eta * (m * v + delta)
