# task: local-sgd
# loses: local-sgd-check
# hint: not from the first w
def local_sgd(gradient, w, rounds, gamma):
    for work in rounds:
        ends = []
        for batches in work:
            own = w
            for batch in batches:
                own = own - gamma * gradient(own, batch)
            ends.append(own)
        result = np.mean(ends, axis=0)
    return result
