# task: batch-norm
# loses: batch-norm-check
# hint: each feature of a worker
def normalize(x, n, epsilon):
    workers = x.reshape(-1, n, x.shape[1])
    mean, variance = workers.mean(axis=(1, 2), keepdims=True), workers.var(axis=(1, 2), keepdims=True)
    return ((workers - mean) / np.sqrt(variance + epsilon)).reshape(x.shape)
