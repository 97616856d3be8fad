# task: softmax-derivative
# loses: softmax-derivative-check
# hint: δ is missing
def softmax_derivative(f):
    return -np.outer(f, f)
