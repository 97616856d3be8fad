# task: train-round
# loses: train-round-check
# hint: those of the ring alone
def train_round(comm, w, batches, gradient, gamma, C, all_reduce):
    for batch in batches:
        w = w - gamma * gradient(w, batch)
    return all_reduce(comm, w) / comm.size
