# task: train-round
def train_round(comm, w, batches, gradient, gamma, C, all_reduce):
    own = w.copy()
    for batch in batches:
        own -= gamma * gradient(own, batch)
        comm.compute(C)
    return all_reduce(comm, own / comm.size)
