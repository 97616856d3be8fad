# task: residuals
# loses: residuals-check
# hint: Yours is 2, which is beta, and also c^2
def residuals(A, u, A_x, A_t, u_x, u_t, beta):
    c_squared = beta / 2 * A**0.5
    return A_t + A * u_x + u * A_x, u_t + u * u_x + c_squared * A_x
