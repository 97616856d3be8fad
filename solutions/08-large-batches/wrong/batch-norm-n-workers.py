# task: batch-norm
# loses: batch-norm-check
# hint: not the number of workers
def normalize(x, n, epsilon):
    workers = x.reshape(n, -1, x.shape[1])
    mean, variance = workers.mean(axis=1, keepdims=True), workers.var(axis=1, keepdims=True)
    return ((workers - mean) / np.sqrt(variance + epsilon)).reshape(x.shape)
