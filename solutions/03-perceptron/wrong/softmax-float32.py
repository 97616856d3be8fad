# task: softmax
# loses: softmax-check
# hint: returned float32
def softmax(T):
    e = np.exp((T - T.max(axis=1, keepdims=True)).astype(np.float32))
    return e / e.sum(axis=1, keepdims=True)
