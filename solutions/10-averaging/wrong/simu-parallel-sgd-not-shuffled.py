# task: simu-parallel-sgd
# loses: simu-parallel-sgd-check
# hint: as they lay in the array
def simu_parallel_sgd(gradient, w0, examples, gamma, K, seed):
    T = len(examples) // K
    ws = []
    for k in range(K):
        w = w0
        for row in range(k * T, (k + 1) * T):
            w = w - gamma * gradient(w, examples[row])
        ws.append(w)
    return np.mean(ws, axis=0), np.array(ws)
