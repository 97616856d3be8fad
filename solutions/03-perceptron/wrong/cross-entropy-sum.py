# task: cross-entropy
# loses: cross-entropy-check, cross-entropy-large-check
# hint: yours is the sum over the examples
def cross_entropy(T, y):
    c = T.max(axis=1)
    logs = c + np.log(np.exp(T - c[:, None]).sum(axis=1))
    return np.sum(logs - T[np.arange(len(y)), y])
