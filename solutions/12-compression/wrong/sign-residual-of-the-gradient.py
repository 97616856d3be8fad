# task: sign
# loses: sign-check
# hint: with a residual x is
def sign_descent(gradients, eta, with_residual):
    x = residual = 0.0
    path = []
    for gradient in gradients:
        p = eta * gradient + residual
        delta = eta * np.sign(p)
        if with_residual:
            residual = eta * gradient - delta
        x = np.clip(x - delta, -1, 1)
        path.append(x)
    return np.array(path)
