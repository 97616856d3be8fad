# task: output-error
# loses: output-error-check
# hint: 1 is not subtracted
def output_error(f, y):
    D = f.copy()
    return D / len(y)
