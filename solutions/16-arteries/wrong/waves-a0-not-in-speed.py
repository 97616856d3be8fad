# task: waves
# loses: waves-check
# hint: c0 contains A0, too
def pressure(A, beta, A0):
    return beta * (A**0.5 - A0**0.5)


def characteristics(A, u, beta, A0):
    rise = 4 * (beta / 2) ** 0.5 * (A**0.25 - 1)
    return u + rise, u - rise
