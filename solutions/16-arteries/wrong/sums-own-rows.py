# task: sums
# loses: sums-check
# hint: the sums of its own rows
def normal_equations(comm, J, r):
    P = J.shape[1]
    flat = np.concatenate([(J.T @ J).ravel(), J.T @ r, [r @ r]])
    return flat[: P * P].reshape(P, P), flat[P * P : -1], float(flat[-1])
