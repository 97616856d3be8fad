# task: outer-step
# loses: outer-step-check
# hint: v = 0.5 · 2 + 3 = 4
def outer_step(w, v, ws, eta, m):
    delta = w - np.mean(ws, axis=0)
    v = m * v + eta * delta
    return w - (m * v + eta * delta), v
