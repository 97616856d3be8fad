# task: local-sgd
def local_sgd(gradient, w, rounds, gamma):
    for work in rounds:
        change = np.zeros(w.shape)
        for batches in work:
            own = w.copy()
            for batch in batches:
                own -= gamma * gradient(own, batch)
            change += own - w
        w = w + change / len(work)
    return w
