# task: local-sgd
# loses: local-sgd-check
# hint: which the caller still needs
def local_sgd(gradient, w, rounds, gamma):
    for work in rounds:
        ends = []
        for batches in work:
            own = w.copy()
            for batch in batches:
                own -= gamma * gradient(own, batch)
            ends.append(own)
        w[...] = np.mean(ends, axis=0)
    return w.copy()
