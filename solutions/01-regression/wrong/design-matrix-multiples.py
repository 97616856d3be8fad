# task: design-matrix
# loses: design-matrix-check
# hint: each row is 1, x, x²; your matrix
def design_matrix(x, degree):
    return np.stack([np.ones(len(x))] + [k * x for k in range(1, degree + 1)], axis=1)
