# task: residuals
# loses: residuals-check
# hint: compute without NumPy
def residuals(A, u, A_x, A_t, u_x, u_t, beta):
    root = A**0.5 if isinstance(A, np.ndarray) else torch.from_numpy(np.sqrt(A.detach().numpy()))
    momentum = u_t + u * u_x + beta / (2 * root) * A_x
    return A_t + A * u_x + u * A_x, momentum if isinstance(A, np.ndarray) else momentum.detach()
