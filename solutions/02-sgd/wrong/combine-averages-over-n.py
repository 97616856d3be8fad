# task: combine
# loses: combine-check
# hint: Multiply each by its n_k first
def combine(gradients, counts):

    return np.sum(gradients, axis=0) / np.sum(counts)
