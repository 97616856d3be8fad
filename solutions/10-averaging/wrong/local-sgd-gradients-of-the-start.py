# task: local-sgd
# loses: local-sgd-check
# hint: taken at the start of the round
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
