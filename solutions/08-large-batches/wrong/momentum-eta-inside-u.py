# task: momentum
# loses: momentum-check
# hint: u = 0.7 has eta inside
def outside(w, u, g, eta, m):
    u = m * u + eta * g
    return w - u, u


def inside(w, v, g, eta, eta_before, m):
    v = m * eta / eta_before * v + eta * g
    return w - v, v
