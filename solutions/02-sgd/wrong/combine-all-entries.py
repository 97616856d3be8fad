# task: combine
# loses: combine-check
# hint: entry by entry
def combine(gradients, counts):

    return np.average(np.mean(gradients, axis=1), weights=counts)
