# task: sign
def sign_descent(gradients, eta, with_residual):
    path, x, r = np.empty(len(gradients)), 0.0, 0.0
    for i, g in enumerate(gradients):
        p = eta * g + r
        step = eta if p > 0 else -eta if p < 0 else 0.0
        r = p - step if with_residual else 0.0
        x = max(-1.0, min(1.0, x - step))
        path[i] = x
    return path
