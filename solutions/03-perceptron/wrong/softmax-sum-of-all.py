# task: softmax
# loses: softmax-check, softmax-large-check
# hint: all entries together have the sum 1
def softmax(T):
    e = np.exp(T - T.max(axis=1, keepdims=True))
    return e / e.sum()
