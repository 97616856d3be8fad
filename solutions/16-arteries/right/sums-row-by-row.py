# task: sums
def normal_equations(comm, J, r):
    P = J.shape[1]
    total = np.zeros(P * P + P + 1)
    for row, value in zip(J, r, strict=True):
        total += np.concatenate([np.outer(row, row).ravel(), value * row, [value**2]])
    total = parallel.all_reduce(comm, total)
    H, g, s = np.split(total, [P * P, P * P + P])
    return H.reshape(P, P), g, float(s[0])
