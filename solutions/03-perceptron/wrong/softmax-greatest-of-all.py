# task: softmax
# loses: softmax-large-check
# hint: from 0 divided by 0
def softmax(T):
    e = np.exp(T - T.max())
    return e / e.sum(axis=1, keepdims=True)
