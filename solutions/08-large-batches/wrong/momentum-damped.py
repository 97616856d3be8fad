# task: momentum
# loses: momentum-check
# hint: another form of momentum
def outside(w, u, g, eta, m):
    u = m * u + (1 - m) * g
    return w - eta * u, u


def inside(w, v, g, eta, eta_before, m):
    v = m * eta / eta_before * v + eta * g
    return w - v, v
