# task: direction
def direction(comm, g, S, Y):
    m = len(S)
    rho, alpha, q = np.zeros(m), np.zeros(m), np.array(g)
    for i in reversed(range(m)):
        rho[i] = 1 / mapreduce.dot(comm, Y[i], S[i])
        alpha[i] = rho[i] * mapreduce.dot(comm, S[i], q)
        q = q - alpha[i] * Y[i]
    if m > 0:
        q = q * mapreduce.dot(comm, S[-1], Y[-1]) / mapreduce.dot(comm, Y[-1], Y[-1])
    for i in range(m):
        beta = rho[i] * mapreduce.dot(comm, Y[i], q)
        q = q + (alpha[i] - beta) * S[i]
    return q
