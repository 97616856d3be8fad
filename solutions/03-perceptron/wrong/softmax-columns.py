# task: softmax
# loses: softmax-check, softmax-large-check
# hint: each column has the sum 1
def softmax(T):
    e = np.exp(T - T.max(axis=1, keepdims=True))
    return e / e.sum(axis=0)
