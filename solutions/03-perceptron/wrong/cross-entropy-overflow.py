# task: cross-entropy
# loses: cross-entropy-large-check
# hint: e^1000 is too large
def cross_entropy(T, y):
    c = np.zeros(len(T))
    logs = c + np.log(np.exp(T - c[:, None]).sum(axis=1))
    return np.mean(logs - T[np.arange(len(y)), y])
