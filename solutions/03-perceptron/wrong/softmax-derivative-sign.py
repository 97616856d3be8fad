# task: softmax-derivative
# loses: softmax-derivative-check
# hint: the sign is the other way
def softmax_derivative(f):
    return np.outer(f, f) - np.diag(f)
