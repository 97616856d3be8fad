# task: output-error
# loses: output-error-check
# hint: the factor 1/B is missing
def output_error(f, y):
    D = f.copy()
    D[np.arange(len(y)), y] -= 1
    return D
