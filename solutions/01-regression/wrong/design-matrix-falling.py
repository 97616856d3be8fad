# task: design-matrix
# loses: design-matrix-check
# hint: your powers fall
def design_matrix(x, degree):
    return np.vander(x, degree + 1)
