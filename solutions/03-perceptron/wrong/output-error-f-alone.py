# task: output-error
# loses: output-error-check
# hint: yours is f / B
def output_error(f, y):
    D = f.copy()
    return D / len(y)
