# task: train-round
# loses: train-round-check
# hint: the ring is needed once per round
def train_round(comm, w, batches, gradient, gamma, C, all_reduce):
    for batch in batches:
        comm.compute(C)
        w = w - gamma * gradient(w, batch)
    all_reduce(comm, w)
    return all_reduce(comm, w) / comm.size
