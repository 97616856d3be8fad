# task: output-error
# loses: output-error-check
# hint: selects these columns in every row
def output_error(f, y):
    D = f.copy()
    D[:, y] -= 1
    return D / len(y)
