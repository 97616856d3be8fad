# task: batch-norm
# loses: batch-norm-check
# hint: below the root
def normalize(x, n, epsilon):
    workers = x.reshape(-1, n, x.shape[1])
    mean, deviation = workers.mean(axis=1, keepdims=True), workers.std(axis=1, keepdims=True)
    return ((workers - mean) / (deviation + epsilon)).reshape(x.shape)
