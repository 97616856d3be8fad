# task: sums
# loses: sums-check
# hint: one all-reduce of
def normal_equations(comm, J, r):
    P = J.shape[1]
    flat = np.concatenate([(J.T @ J).ravel(), J.T @ r, [r @ r]])
    flat = parallel.all_gather(comm, flat, flat.size * comm.size).reshape(comm.size, -1).sum(axis=0)
    return flat[: P * P].reshape(P, P), flat[P * P : -1], float(flat[-1])
