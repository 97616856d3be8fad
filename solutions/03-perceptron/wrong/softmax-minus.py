# task: softmax
# loses: softmax-check, softmax-large-check
# hint: the greatest T got the smallest share
def softmax(T):
    e = np.exp(-T + T.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)
