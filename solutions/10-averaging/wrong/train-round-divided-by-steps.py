# task: train-round
# loses: train-round-check
# hint: the average of 0 and 2.04 is 1.02 on both ranks
def train_round(comm, w, batches, gradient, gamma, C, all_reduce):
    for batch in batches:
        comm.compute(C)
        w = w - gamma * gradient(w, batch)
    return all_reduce(comm, w) / (comm.size * len(batches))
