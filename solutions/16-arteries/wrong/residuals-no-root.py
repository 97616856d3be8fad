# task: residuals
# loses: residuals-check
# hint: Yours is 2, which is beta, and also c^2
def residuals(A, u, A_x, A_t, u_x, u_t, beta):
    p_x = beta * A_x
    return A_t + A * u_x + u * A_x, u_t + u * u_x + p_x
