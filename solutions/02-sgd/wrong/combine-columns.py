# task: combine
# loses: combine-check
# hint: multiplied each column by a count
def combine(gradients, counts):
    return np.sum(np.array(gradients) * np.array(counts), axis=0) / np.sum(counts)
