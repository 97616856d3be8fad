# task: residuals
# loses: residuals-check
# hint: residuals returned None
def residuals(A, u, A_x, A_t, u_x, u_t, beta):
    p_x = beta / (2 * A**0.5) * A_x
