# task: softmax
# loses: softmax-check, softmax-large-check
# hint: the columns add up to 1
def softmax(T):
    e = np.exp(T - T.max(axis=1, keepdims=True))
    return e / e.sum(axis=0)
