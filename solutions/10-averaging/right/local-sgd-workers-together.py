# task: local-sgd
def local_sgd(gradient, w, rounds, gamma):
    for work in rounds:
        ws = [w] * len(work)
        for batches in zip(*work, strict=True):
            ws = [own - gamma * gradient(own, batch) for own, batch in zip(ws, batches, strict=True)]
        w = sum(ws) / len(ws)
    return w
