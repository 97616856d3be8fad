# task: simu-parallel-sgd
# loses: simu-parallel-sgd-check
# hint: each machine went through all 11 examples
def simu_parallel_sgd(gradient, w0, examples, gamma, K, seed):
    rng = np.random.default_rng(seed)
    ws = []
    for _ in range(K):
        w = w0
        for row in rng.permutation(len(examples)):
            w = w - gamma * gradient(w, examples[row])
        ws.append(w)
    return np.mean(ws, axis=0), np.array(ws)
