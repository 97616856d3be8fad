# task: outer-step
# loses: outer-step-check
# hint: a step along Δ alone
def outer_step(w, v, ws, eta, m):
    delta = w - np.mean(ws, axis=0)
    v = m * v + delta
    return w - eta * delta, v
