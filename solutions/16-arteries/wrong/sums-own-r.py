# task: sums
# loses: sums-check
# hint: r'r should be
def normal_equations(comm, J, r):
    P = J.shape[1]
    flat = np.concatenate([(J.T @ J).ravel(), J.T @ r, [r @ r]])
    flat = parallel.all_reduce(comm, flat)
    return flat[: P * P].reshape(P, P), flat[P * P : -1], float(r @ r)
