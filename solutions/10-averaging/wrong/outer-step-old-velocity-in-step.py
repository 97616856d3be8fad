# task: outer-step
# loses: outer-step-check
# hint: w = 10 - 0.5 · (0.5 · 4 + 3)
def outer_step(w, v, ws, eta, m):
    delta = w - np.mean(ws, axis=0)
    new = m * v + delta
    return w - eta * (m * m * v + delta), new
