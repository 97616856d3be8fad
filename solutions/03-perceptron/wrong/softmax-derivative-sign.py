# task: softmax-derivative
# loses: softmax-derivative-check
# hint: all signs are reversed
def softmax_derivative(f):
    return np.outer(f, f) - np.diag(f)
