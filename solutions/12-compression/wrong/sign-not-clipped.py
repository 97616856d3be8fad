# task: sign
# loses: sign-check
# hint: x stays between -1 and 1
def sign_descent(gradients, eta, with_residual):
    x = residual = 0.0
    path = []
    for gradient in gradients:
        p = eta * gradient + residual
        delta = eta * np.sign(p)
        if with_residual:
            residual = p - delta
        x = x - delta
        path.append(x)
    return np.array(path)
