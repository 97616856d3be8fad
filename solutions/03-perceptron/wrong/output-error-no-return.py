# task: output-error
# loses: output-error-check
# hint: output_error returned None
def output_error(f, y):
    D = f.copy()
    D[np.arange(len(y)), y] -= 1
    D / len(y)
