# task: output-error
# loses: output-error-check
# hint: f is no longer what it was
def output_error(f, y):
    f[np.arange(len(y)), y] -= 1
    return f / len(y)
