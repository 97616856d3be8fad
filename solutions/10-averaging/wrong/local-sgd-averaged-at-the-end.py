# task: local-sgd
# loses: local-sgd-check
# hint: were averaged at the end only
def local_sgd(gradient, w, rounds, gamma):
    ends = [w] * len(rounds[0])
    for work in rounds:
        for k, batches in enumerate(work):
            for batch in batches:
                ends[k] = ends[k] - gamma * gradient(ends[k], batch)
    return np.mean(ends, axis=0)
