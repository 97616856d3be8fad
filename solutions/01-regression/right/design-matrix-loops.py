# task: design-matrix
def design_matrix(x, degree):
    A = np.ones((len(x), degree + 1))
    for k in range(1, degree + 1):
        A[:, k] = A[:, k - 1] * x
    return A
