# task: outer-step
# loses: outer-step-check
# hint: w = 10 - 0.5 · (0.5 · 4 + 3)
def outer_step(w, v, ws, eta, m):
    mean = np.mean(ws, axis=0)
    delta = w - mean
    v = m * v + delta
    return mean - eta * (m * v + delta), v
