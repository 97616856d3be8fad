# task: softmax-derivative
# loses: softmax-derivative-check
# hint: must begin with `return`
def softmax_derivative(f):
    np.diag(f) - np.outer(f, f)
