# task: simu-parallel-sgd
# loses: simu-parallel-sgd-check
# hint: which the caller still needs
def simu_parallel_sgd(gradient, w0, examples, gamma, K, seed):
    T = len(examples) // K
    order = np.random.default_rng(seed).permutation(len(examples))
    ws = []
    for rows in order[: K * T].reshape(K, T):
        w = w0.copy()
        for row in rows:
            w -= gamma * gradient(w, examples[row])
        ws.append(w)
    w0[:] = np.mean(ws, axis=0)
    return w0.copy(), np.array(ws)
