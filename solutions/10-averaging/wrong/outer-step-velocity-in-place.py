# task: outer-step
# loses: outer-step-check
# hint: which the caller still needs
def outer_step(w, v, ws, eta, m):
    delta = w - np.mean(ws, axis=0)
    v *= m
    v += delta
    return w - eta * (m * v + delta), v.copy()
