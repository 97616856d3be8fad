# task: residuals
# loses: residuals-check
# hint: The 2 is missing
def residuals(A, u, A_x, A_t, u_x, u_t, beta):
    p_x = beta / A**0.5 * A_x
    return A_t + A * u_x + u * A_x, u_t + u * u_x + p_x
