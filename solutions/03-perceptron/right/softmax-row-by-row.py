# task: softmax
def softmax(T):
    rows = []
    for t in T:
        e = np.exp(t - max(t))
        rows.append(e / sum(e))
    return np.array(rows)
