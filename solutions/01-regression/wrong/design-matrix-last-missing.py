# task: design-matrix
# loses: design-matrix-check
# hint: last power is missing
def design_matrix(x, degree):
    return np.stack([x**k for k in range(degree)], axis=1)
