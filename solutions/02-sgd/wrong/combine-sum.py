# task: combine
# loses: combine-check
# hint: as if the learning rate were
def combine(gradients, counts):

    return np.sum(gradients, axis=0)
