# task: softmax-derivative
# loses: softmax-derivative-check
# hint: yours is 0 off the diagonal
def softmax_derivative(f):
    return np.diag(f * (1 - f))
