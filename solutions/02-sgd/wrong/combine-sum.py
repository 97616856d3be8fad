# task: combine
# loses: combine-check
# hint: a learning rate k times too large
def combine(gradients, counts):

    return np.sum(gradients, axis=0)
