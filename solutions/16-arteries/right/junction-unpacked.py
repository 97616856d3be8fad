# task: junction
def junction(A, u, beta, A0):
    (A1, A2, A3), (u1, u2, u3) = A, u
    e1, e2, e3 = (b * (a**0.5 - a0**0.5) + 0.5 * v * v for a, v, b, a0 in zip(A, u, beta, A0, strict=True))
    return A1 * u1 - (A2 * u2 + A3 * u3), e1 - e2, e1 - e3
