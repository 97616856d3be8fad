# task: waves
def pressure(A, beta, A0):
    return beta * A**0.5 - beta * A0**0.5


def characteristics(A, u, beta, A0):
    c, c0 = ((beta / 2) ** 0.5 * section**0.25 for section in (A, A0))
    return [u + 4 * (c - c0), u - 4 * (c - c0)]
