# task: output-error
# loses: output-error-check
# hint: divides by the number of classes
def output_error(f, y):
    D = f.copy()
    D[np.arange(len(y)), y] -= 1
    return D / f.shape[1]
