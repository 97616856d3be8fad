# task: residuals
# loses: residuals-check
# hint: pairs them the other way
def residuals(A, u, A_x, A_t, u_x, u_t, beta):
    p_x = beta / (2 * A**0.5) * A_x
    return A_t + A * A_x + u * u_x, u_t + u * u_x + p_x
