# task: output-error
# loses: output-error-check
# hint: changes `f`
def output_error(f, y):
    f[np.arange(len(y)), y] -= 1
    return f / len(y)
