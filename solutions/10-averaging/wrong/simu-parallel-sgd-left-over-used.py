# task: simu-parallel-sgd
# loses: simu-parallel-sgd-check
# hint: belong to nobody
def simu_parallel_sgd(gradient, w0, examples, gamma, K, seed):
    order = np.random.default_rng(seed).permutation(len(examples))
    ws = []
    for rows in np.array_split(order, K):
        w = w0
        for row in rows:
            w = w - gamma * gradient(w, examples[row])
        ws.append(w)
    return np.mean(ws, axis=0), np.array(ws)
