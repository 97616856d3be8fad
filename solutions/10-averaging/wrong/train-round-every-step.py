# task: train-round
# loses: train-round-check
# hint: the weights were averaged in every step
def train_round(comm, w, batches, gradient, gamma, C, all_reduce):
    for batch in batches:
        comm.compute(C)
        w = w - gamma * gradient(w, batch)
        w = all_reduce(comm, w) / comm.size
    return w
