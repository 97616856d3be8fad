# task: softmax
# loses: softmax-check, softmax-large-check
# hint: yours is the logarithm of the softmax
def softmax(T):
    e = np.exp(T - T.max(axis=1, keepdims=True))
    return np.log(e / e.sum(axis=1, keepdims=True))
