# task: softmax
# loses: softmax-check, softmax-large-check
# hint: the largest T has the smallest probability
def softmax(T):
    e = np.exp(-T + T.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)
