# task: design-matrix
# loses: design-matrix-check
# hint: returned float32, which keeps about 7 digits
def design_matrix(x, degree):
    A = np.empty((len(x), degree + 1), dtype=np.float32)
    for k in range(degree + 1):
        A[:, k] = x**k
    return A
