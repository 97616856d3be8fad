# task: softmax-derivative
# loses: softmax-derivative-check
# hint: softmax_derivative returned None
def softmax_derivative(f):
    np.diag(f) - np.outer(f, f)
