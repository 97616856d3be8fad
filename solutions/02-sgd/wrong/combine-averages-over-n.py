# task: combine
# loses: combine-check
# hint: Multiply each average by its own count first
def combine(gradients, counts):

    return np.sum(gradients, axis=0) / np.sum(counts)
