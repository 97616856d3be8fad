# task: residuals
def residuals(A, u, A_x, A_t, u_x, u_t, beta):
    flow_x = A * u_x + A_x * u
    energy_x = u * u_x + 0.5 * beta * A_x * A**-0.5
    return A_t + flow_x, u_t + energy_x
