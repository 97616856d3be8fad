# task: softmax-derivative
# loses: softmax-derivative-check
# hint: the term with δ is missing
def softmax_derivative(f):
    return -np.outer(f, f)
