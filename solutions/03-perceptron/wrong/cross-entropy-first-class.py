# task: cross-entropy
# loses: cross-entropy-check, cross-entropy-large-check
# hint: takes class 0 for all
def cross_entropy(T, y):
    c = T.max(axis=1)
    logs = c + np.log(np.exp(T - c[:, None]).sum(axis=1))
    return np.mean(logs - T[:, 0])
