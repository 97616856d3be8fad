# task: residuals
# loses: residuals-check
# hint: 5 + 3 * 2 + 2
def residuals(A, u, A_x, A_t, u_x, u_t, beta):
    p_x = 1 / (2 * A**0.5) * A_x
    return A_t + A * u_x + u * A_x, u_t + u * u_x + p_x
