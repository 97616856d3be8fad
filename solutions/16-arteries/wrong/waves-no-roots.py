# task: waves
# loses: waves-check
# hint: take the square roots of A and of A0
def pressure(A, beta, A0):
    return beta * (A - A0)


def characteristics(A, u, beta, A0):
    rise = 4 * (beta / 2) ** 0.5 * (A**0.25 - A0**0.25)
    return u + rise, u - rise
