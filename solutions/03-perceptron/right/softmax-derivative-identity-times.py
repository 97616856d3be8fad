# task: softmax-derivative
def softmax_derivative(f):
    return f[:, None] * (np.eye(len(f)) - f)
