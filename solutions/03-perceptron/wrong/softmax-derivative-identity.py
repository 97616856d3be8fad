# task: softmax-derivative
# loses: softmax-derivative-check
# hint: not the identity matrix
def softmax_derivative(f):
    return np.eye(len(f)) - np.outer(f, f)
