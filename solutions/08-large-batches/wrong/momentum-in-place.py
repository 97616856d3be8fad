# task: momentum
# loses: momentum-check
# hint: changes `w`
def outside(w, u, g, eta, m):
    u = m * u + g
    w -= eta * u
    return w, u


def inside(w, v, g, eta, eta_before, m):
    v = m * eta / eta_before * v + eta * g
    return w - v, v
