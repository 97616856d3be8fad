# task: softmax
# loses: softmax-check, softmax-large-check
# hint: divide each row by its sum
def softmax(T):
    e = np.exp(T - T.max(axis=1, keepdims=True))
    return e
