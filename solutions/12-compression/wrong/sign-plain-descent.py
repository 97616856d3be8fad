# task: sign
# loses: sign-check
# hint: yours is plain descent
def sign_descent(gradients, eta, with_residual):
    x = residual = 0.0
    path = []
    for gradient in gradients:
        p = eta * gradient + residual
        delta = p
        if with_residual:
            residual = p - delta
        x = np.clip(x - delta, -1, 1)
        path.append(x)
    return np.array(path)
