# task: outer-step
# loses: outer-step-check
# hint: Δ has the wrong sign
def outer_step(w, v, ws, eta, m):
    delta = np.mean(ws, axis=0) - w
    v = m * v + delta
    return w + eta * (m * v + delta), v
