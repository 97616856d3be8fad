# task: momentum
# loses: momentum-check
# hint: eta is applied twice
def outside(w, u, g, eta, m):
    u = m * u + g
    return w - eta * u, u


def inside(w, v, g, eta, eta_before, m):
    v = m * eta / eta_before * v + eta * g
    return w - eta * v, v
