# task: momentum
def outside(w, u, g, eta, m):
    velocity = g + m * u
    return [w - eta * velocity, velocity]


def inside(w, v, g, eta, eta_before, m):
    u = m * v / eta_before + g
    return w - eta * u, eta * u
