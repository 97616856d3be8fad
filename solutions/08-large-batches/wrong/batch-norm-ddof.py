# task: batch-norm
# loses: batch-norm-check
# hint: without ddof
def normalize(x, n, epsilon):
    workers = x.reshape(-1, n, x.shape[1])
    mean, variance = workers.mean(axis=1, keepdims=True), workers.var(axis=1, keepdims=True, ddof=1)
    return ((workers - mean) / np.sqrt(variance + epsilon)).reshape(x.shape)
