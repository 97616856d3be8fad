# task: average
def average(gradients, counts):
    return np.average(gradients, axis=0, weights=counts)
