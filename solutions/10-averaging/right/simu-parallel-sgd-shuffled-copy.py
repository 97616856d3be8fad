# task: simu-parallel-sgd
def simu_parallel_sgd(gradient, w0, examples, gamma, K, seed):
    shuffled = examples.copy()
    np.random.default_rng(seed).shuffle(shuffled)
    T = len(shuffled) // K
    ws = np.empty((K, *w0.shape))
    for k in range(K):
        ws[k] = w0
        for example in shuffled[k * T : (k + 1) * T]:
            ws[k] = ws[k] - gamma * gradient(ws[k], example)
    return ws.mean(axis=0), ws
