# task: output-error
# loses: output-error-check
# hint: divides by B twice
def output_error(f, y):
    D = f.copy()
    D[np.arange(len(y)), y] -= 1
    return D / len(y) ** 2
