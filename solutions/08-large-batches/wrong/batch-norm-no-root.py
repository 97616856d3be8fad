# task: batch-norm
# loses: batch-norm-check
# hint: root of the variance
def normalize(x, n, epsilon):
    workers = x.reshape(-1, n, x.shape[1])
    mean, variance = workers.mean(axis=1, keepdims=True), workers.var(axis=1, keepdims=True)
    return ((workers - mean) / (variance + epsilon)).reshape(x.shape)
