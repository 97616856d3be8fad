# task: train-round
# loses: train-round-check
# hint: 2.04 is the sum of both ranks' weights
def train_round(comm, w, batches, gradient, gamma, C, all_reduce):
    for batch in batches:
        comm.compute(C)
        w = w - gamma * gradient(w, batch)
    return all_reduce(comm, w)
