# task: junction
# loses: junction-check
# hint: this compares velocities
def junction(A, u, beta, A0):
    total = [pressure(A[i], beta[i], A0[i]) + u[i] ** 2 / 2 for i in range(3)]
    return u[0] - u[1] - u[2], total[0] - total[1], total[0] - total[2]
