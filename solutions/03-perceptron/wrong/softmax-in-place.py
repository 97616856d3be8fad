# task: softmax
# loses: softmax-check
# hint: changes `T`
def softmax(T):
    T -= T.max(axis=1, keepdims=True)
    e = np.exp(T)
    return e / e.sum(axis=1, keepdims=True)
