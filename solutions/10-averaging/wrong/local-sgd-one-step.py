# task: local-sgd
# loses: local-sgd-check
# hint: average after one step of each worker
def local_sgd(gradient, w, rounds, gamma):
    for work in rounds:
        w = np.mean([w - gamma * gradient(w, batches[0]) for batches in work], axis=0)
    return w
