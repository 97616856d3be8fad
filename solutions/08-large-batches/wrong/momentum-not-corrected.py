# task: momentum
# loses: momentum-check
# hint: no momentum correction
def outside(w, u, g, eta, m):
    u = m * u + g
    return w - eta * u, u


def inside(w, v, g, eta, eta_before, m):
    v = m * v + eta * g
    return w - v, v
