# task: momentum
# loses: momentum-check
# hint: upside down
def outside(w, u, g, eta, m):
    u = m * u + g
    return w - eta * u, u


def inside(w, v, g, eta, eta_before, m):
    v = m * eta_before / eta * v + eta * g
    return w - v, v
