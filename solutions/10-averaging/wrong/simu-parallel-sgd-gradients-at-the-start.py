# task: simu-parallel-sgd
# loses: simu-parallel-sgd-check
# hint: all gradients were taken at w0
def simu_parallel_sgd(gradient, w0, examples, gamma, K, seed):
    T = len(examples) // K
    order = np.random.default_rng(seed).permutation(len(examples))
    ws = []
    for rows in order[: K * T].reshape(K, T):
        w = w0
        for row in rows:
            w = w - gamma * gradient(w0, examples[row])
        ws.append(w)
    return np.mean(ws, axis=0), np.array(ws)
