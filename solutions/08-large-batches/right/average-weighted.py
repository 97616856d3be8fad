# task: average
def average(comm, gradients):
    samples = all_reduce(comm, np.array([float(len(gradients))]))[0]
    return all_reduce(comm, gradients.mean(axis=0) * len(gradients) / samples)
