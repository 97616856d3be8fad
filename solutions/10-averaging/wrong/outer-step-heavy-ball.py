# task: outer-step
# loses: outer-step-check
# hint: without Nesterov's look ahead
def outer_step(w, v, ws, eta, m):
    delta = w - np.mean(ws, axis=0)
    v = m * v + delta
    return w - eta * v, v
