# task: momentum
# loses: momentum-check
# hint: for the old v alone
def outside(w, u, g, eta, m):
    u = m * u + g
    return w - eta * u, u


def inside(w, v, g, eta, eta_before, m):
    v = eta / eta_before * (m * v + eta * g)
    return w - v, v
