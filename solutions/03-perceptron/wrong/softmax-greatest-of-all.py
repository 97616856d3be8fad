# task: softmax
# loses: softmax-large-check
# hint: not of all rows
def softmax(T):
    e = np.exp(T - T.max())
    return e / e.sum(axis=1, keepdims=True)
