# task: softmax-derivative
# loses: softmax-derivative-check
# hint: End it with a `return`
def softmax_derivative(f):
    np.diag(f) - np.outer(f, f)
