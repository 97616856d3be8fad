# task: attention
def attend(Q, K, V):
    T, e = Q.shape
    scores = np.einsum("te,se->ts", Q, K) * e**-0.5
    scores[np.triu_indices(T, 1)] = -np.inf
    scores -= scores.max(axis=-1)[:, None]
    a = np.exp(scores)
    return np.einsum("ts,sm->tm", a, V) / a.sum(axis=-1)[:, None]
