# task: design-matrix
# loses: design-matrix-check
# hint: column 0 must be x⁰
def design_matrix(x, degree):
    return np.stack([x ** (k + 1) for k in range(degree + 1)], axis=1)
