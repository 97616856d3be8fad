# task: simu-parallel-sgd
# loses: simu-parallel-sgd-check
# hint: v is the sum of the models
def simu_parallel_sgd(gradient, w0, examples, gamma, K, seed):
    T = len(examples) // K
    order = np.random.default_rng(seed).permutation(len(examples))
    ws = []
    for rows in order[: K * T].reshape(K, T):
        w = w0
        for row in rows:
            w = w - gamma * gradient(w, examples[row])
        ws.append(w)
    return np.sum(ws, axis=0), np.array(ws)
