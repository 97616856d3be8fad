# task: softmax
# loses: softmax-large-check
# hint: exp(1000) overflows
def softmax(T):
    e = np.exp(T)
    return e / e.sum(axis=1, keepdims=True)
