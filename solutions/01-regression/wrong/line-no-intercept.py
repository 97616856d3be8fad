# task: line
# loses: line-check
# hint: b is missing
def line(m, b, x):
    return m * x
