# task: train-round
# loses: train-round-check
# hint: which the caller still needs
def train_round(comm, w, batches, gradient, gamma, C, all_reduce):
    for batch in batches:
        comm.compute(C)
        w -= gamma * gradient(w, batch)
    return all_reduce(comm, w) / comm.size
