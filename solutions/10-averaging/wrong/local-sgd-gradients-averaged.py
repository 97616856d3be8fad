# task: local-sgd
# loses: local-sgd-check
# hint: the gradients were averaged after every step
def local_sgd(gradient, w, rounds, gamma):
    for work in rounds:
        for batches in zip(*work, strict=True):
            w = w - gamma * np.mean([gradient(w, batch) for batch in batches], axis=0)
    return w
