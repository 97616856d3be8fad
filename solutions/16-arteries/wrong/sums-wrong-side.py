# task: sums
# loses: sums-check
# hint: shape
def normal_equations(comm, J, r):
    return J @ J.T, J.T @ r, float(r @ r)
