# task: junction
# loses: junction-check
# hint: these are differences of p
def junction(A, u, beta, A0):
    total = [pressure(A[i], beta[i], A0[i]) for i in range(3)]
    return A[0] * u[0] - A[1] * u[1] - A[2] * u[2], total[0] - total[1], total[0] - total[2]
