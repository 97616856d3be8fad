# task: simu-parallel-sgd
# loses: simu-parallel-sgd-check
# hint: The parts of the machines do not overlap
def simu_parallel_sgd(gradient, w0, examples, gamma, K, seed):
    T = len(examples) // K
    ws = []
    for _ in range(K):
        w = w0
        for row in np.random.default_rng(seed).permutation(len(examples))[:T]:
            w = w - gamma * gradient(w, examples[row])
        ws.append(w)
    return np.mean(ws, axis=0), np.array(ws)
