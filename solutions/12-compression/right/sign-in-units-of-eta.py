# task: sign
def sign_descent(gradients, eta, with_residual):
    left, x, path = 0.0, 0.0, []
    for gradient in gradients:
        sign = np.sign(gradient + left)
        left = (gradient + left - sign) * with_residual
        x = float(np.clip(x - eta * sign, -1, 1))
        path += [x]
    return np.array(path)
