# task: average
def average(comm, gradients):
    mine = np.append(gradients.sum(axis=0), len(gradients))
    total = all_reduce(comm, mine)
    return total[:-1] / total[-1]
