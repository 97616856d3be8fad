# task: local-sgd
# loses: local-sgd-check
# hint: both gradients of worker 1 were taken
def local_sgd(gradient, w, rounds, gamma):
    for work in rounds:
        ends = []
        for batches in work:
            own = w
            for batch in batches:
                own = own - gamma * gradient(w, batch)
            ends.append(own)
        w = np.mean(ends, axis=0)
    return w
