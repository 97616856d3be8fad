# task: cross-entropy
# loses: cross-entropy-large-check
# hint: Do not limit the probabilities
def cross_entropy(T, y):
    c = T.max(axis=1)
    logs = c + np.log(np.exp(T - c[:, None]).sum(axis=1))
    return np.mean(np.minimum(logs - T[np.arange(len(y)), y], 30))
