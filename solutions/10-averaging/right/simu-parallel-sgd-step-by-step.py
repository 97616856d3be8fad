# task: simu-parallel-sgd
def simu_parallel_sgd(gradient, w0, examples, gamma, K, seed):
    T = len(examples) // K
    parts = np.random.default_rng(seed).permutation(len(examples))[: K * T].reshape(T, K)
    ws = [w0] * K
    for rows in parts:
        ws = [w - gamma * gradient(w, examples[row]) for w, row in zip(ws, rows, strict=True)]
    return sum(ws) / K, np.array(ws)
