# task: softmax-derivative
# loses: softmax-derivative-check
# hint: not 0
def softmax_derivative(f):
    return np.diag(f * (1 - f))
