# task: simu-parallel-sgd
# loses: simu-parallel-sgd-check
# hint: an example was used twice
def simu_parallel_sgd(gradient, w0, examples, gamma, K, seed):
    T = len(examples) // K
    rng = np.random.default_rng(seed)
    ws = []
    for _ in range(K):
        w = w0
        for row in rng.integers(0, len(examples), size=T):
            w = w - gamma * gradient(w, examples[row])
        ws.append(w)
    return np.mean(ws, axis=0), np.array(ws)
