# task: softmax
# loses: softmax-large-check
# hint: no exponent is above 0
def softmax(T):
    e = np.exp(T - T.min(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)
