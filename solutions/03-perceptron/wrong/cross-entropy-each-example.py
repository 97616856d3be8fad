# task: cross-entropy
# loses: cross-entropy-check, cross-entropy-large-check
# hint: R is one number
def cross_entropy(T, y):
    c = T.max(axis=1)
    logs = c + np.log(np.exp(T - c[:, None]).sum(axis=1))
    return logs - T[np.arange(len(y)), y]
