# task: simu-parallel-sgd
# loses: simu-parallel-sgd-check
# hint: Machines exchange nothing before the end
def simu_parallel_sgd(gradient, w0, examples, gamma, K, seed):
    T = len(examples) // K
    parts = np.random.default_rng(seed).permutation(len(examples))[: K * T].reshape(K, T)
    w = w0
    for t in range(T):
        ws = [w - gamma * gradient(w, examples[rows[t]]) for rows in parts]
        w = np.mean(ws, axis=0)
    return w, np.array(ws)
