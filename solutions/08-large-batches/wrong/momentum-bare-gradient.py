# task: momentum
# loses: momentum-check
# hint: enters the velocity times eta
def outside(w, u, g, eta, m):
    u = m * u + g
    return w - eta * u, u


def inside(w, v, g, eta, eta_before, m):
    v = m * eta / eta_before * v + g
    return w - v, v
