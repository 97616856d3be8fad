# task: combine
# loses: combine-check
# hint: the plain mean of the parts
def combine(gradients, counts):

    return np.mean(gradients, axis=0)
