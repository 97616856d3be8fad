# task: design-matrix
# loses: design-matrix-check
# hint: rows and columns are swapped
def design_matrix(x, degree):
    return np.array([x**k for k in range(degree + 1)])
