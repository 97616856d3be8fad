# task: combine
def combine(gradients, counts):

    return np.average(gradients, axis=0, weights=counts)
