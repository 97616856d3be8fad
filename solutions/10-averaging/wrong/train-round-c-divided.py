# task: train-round
# loses: train-round-check
# hint: one step was declared
def train_round(comm, w, batches, gradient, gamma, C, all_reduce):
    for batch in batches:
        comm.compute(C / comm.size)
        w = w - gamma * gradient(w, batch)
    return all_reduce(comm, w) / comm.size
