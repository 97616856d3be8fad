# task: softmax
# loses: softmax-check
# hint: softmax changed the array T itself
def softmax(T):
    T -= T.max(axis=1, keepdims=True)
    e = np.exp(T)
    return e / e.sum(axis=1, keepdims=True)
