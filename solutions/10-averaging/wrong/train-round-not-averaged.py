# task: train-round
# loses: train-round-check
# hint: each rank returned its own weights
def train_round(comm, w, batches, gradient, gamma, C, all_reduce):
    for batch in batches:
        comm.compute(C)
        w = w - gamma * gradient(w, batch)
    return w
