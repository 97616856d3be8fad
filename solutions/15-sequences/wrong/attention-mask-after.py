# task: attention
# loses: attention-check
# hint: mask before the softmax
def attend(Q, K, V):
    scores = Q @ K.T / np.sqrt(Q.shape[1])
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    weights = weights / weights.sum(axis=1, keepdims=True)
    return (weights * np.tri(len(Q))) @ V
