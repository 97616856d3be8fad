# task: train-round
# loses: train-round-check
# hint: the gradients were taken at the start of the round
def train_round(comm, w, batches, gradient, gamma, C, all_reduce):
    start = w
    for batch in batches:
        comm.compute(C)
        w = w - gamma * gradient(start, batch)
    return all_reduce(comm, w) / comm.size
