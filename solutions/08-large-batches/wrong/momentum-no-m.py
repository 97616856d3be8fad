# task: momentum
# loses: momentum-check
# hint: not multiplied by m
def outside(w, u, g, eta, m):
    u = u + g
    return w - eta * u, u


def inside(w, v, g, eta, eta_before, m):
    v = m * eta / eta_before * v + eta * g
    return w - v, v
