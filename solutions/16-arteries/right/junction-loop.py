# task: junction
def junction(A, u, beta, A0):
    mass, residuals_now = A[0] * u[0], []
    for i in (1, 2):
        mass = mass - A[i] * u[i]
        here = pressure(A[0], beta[0], A0[0]) - pressure(A[i], beta[i], A0[i])
        residuals_now.append(here + (u[0] ** 2 - u[i] ** 2) / 2)
    return [mass, *residuals_now]
