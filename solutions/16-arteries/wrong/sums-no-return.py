# task: sums
# loses: sums-check
# hint: normal_equations returned None
def normal_equations(comm, J, r):
    P = J.shape[1]
    flat = np.concatenate([(J.T @ J).ravel(), J.T @ r, [r @ r]])
    flat = parallel.all_reduce(comm, flat)
    flat[: P * P].reshape(P, P), flat[P * P : -1], float(flat[-1])
