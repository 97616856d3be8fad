# task: waves
# loses: waves-check
# hint: by hand W+ = 7 and 8
def pressure(A, beta, A0):
    return beta * (A**0.5 - A0**0.5)


def characteristics(A, u, beta, A0):
    rise = 4 * (beta / 2) ** 0.5 * (A**0.25 - A0**0.25)
    return u - rise, u - rise
