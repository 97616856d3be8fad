# task: softmax-derivative
# loses: softmax-derivative-check
# hint: off the diagonal the sign is minus
def softmax_derivative(f):
    return np.abs(np.diag(f) - np.outer(f, f))
