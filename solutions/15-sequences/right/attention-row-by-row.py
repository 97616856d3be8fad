# task: attention
def attend(Q, K, V):
    rows = []
    for t in range(len(Q)):
        s = K[: t + 1] @ Q[t] / len(Q[t]) ** 0.5
        a = np.exp(s - s.max())
        rows.append(a @ V[: t + 1] / a.sum())
    return np.array(rows)
