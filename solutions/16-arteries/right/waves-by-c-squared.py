# task: waves
def pressure(A, beta, A0):
    def c_squared(section):
        return beta / 2 * section**0.5

    return 2 * (c_squared(A) - c_squared(A0))


def characteristics(A, u, beta, A0):
    c = (beta * A**0.5 / 2) ** 0.5
    c0 = (beta * A0**0.5 / 2) ** 0.5
    plus = u + 4 * c - 4 * c0
    return plus, 2 * u - plus
