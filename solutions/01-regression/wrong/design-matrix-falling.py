# task: design-matrix
# loses: design-matrix-check
# hint: powers fall from left to right
def design_matrix(x, degree):
    return np.vander(x, degree + 1)
