# task: local-sgd
# loses: local-sgd-check
# hint: after one: each round starts from the average
def local_sgd(gradient, w, rounds, gamma):
    for work in rounds:
        ends = []
        for batches in work:
            own = w
            for batch in batches:
                own = own - gamma * gradient(own, batch)
            ends.append(own)
        w = np.mean(ends, axis=0)
        return w
