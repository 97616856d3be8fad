# task: combine
# loses: combine-check
# hint: has one number per part
def combine(gradients, counts):
    shares = np.array(counts) / np.sum(counts)
    return np.sum(shares[:, None] * np.array(gradients), axis=1)
