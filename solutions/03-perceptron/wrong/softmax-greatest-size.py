# task: softmax
# loses: softmax-large-check
# hint: from 0 divided by 0
def softmax(T):
    e = np.exp(T - np.abs(T).max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)
