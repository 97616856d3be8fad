# task: design-matrix
def design_matrix(x, degree):
    return np.vander(x, degree + 1, increasing=True)
