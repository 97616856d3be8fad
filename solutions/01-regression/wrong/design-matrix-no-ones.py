# task: design-matrix
# loses: design-matrix-check
# hint: column of ones is missing
def design_matrix(x, degree):
    return np.stack([x**k for k in range(1, degree + 1)], axis=1)
