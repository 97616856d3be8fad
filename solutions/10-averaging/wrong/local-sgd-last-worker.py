# task: local-sgd
# loses: local-sgd-check
# hint: worker 1 alone
def local_sgd(gradient, w, rounds, gamma):
    for work in rounds:
        for batches in work:
            own = w
            for batch in batches:
                own = own - gamma * gradient(own, batch)
        w = own
    return w
