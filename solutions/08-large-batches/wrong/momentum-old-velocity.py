# task: momentum
# loses: momentum-check
# hint: takes the old u
def outside(w, u, g, eta, m):
    return w - eta * u, m * u + g


def inside(w, v, g, eta, eta_before, m):
    v = m * eta / eta_before * v + eta * g
    return w - v, v
