# task: junction
# loses: junction-check
# hint: what flows out is subtracted
def junction(A, u, beta, A0):
    total = [pressure(A[i], beta[i], A0[i]) + u[i] ** 2 / 2 for i in range(3)]
    return A[0] * u[0] + A[1] * u[1] + A[2] * u[2], total[0] - total[1], total[0] - total[2]
