# task: local-sgd
# loses: local-sgd-check
# hint: or the sum of both
def local_sgd(gradient, w, rounds, gamma):
    for work in rounds:
        ends = []
        for batches in work:
            own = w
            for batch in batches:
                own = own - gamma * gradient(own, batch)
            ends.append(own)
        w = np.sum(ends, axis=0)
    return w
