# task: sums
# loses: sums-check
# hint: one all-reduce of
def normal_equations(comm, J, r):
    each = J.T @ J, J.T @ r, np.array([r @ r, 0.0])
    H, g, s = (parallel.all_reduce(comm, part) for part in each)
    return H, g, float(s[0])
