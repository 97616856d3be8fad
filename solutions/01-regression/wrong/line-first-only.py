# task: line
# loses: line-check
# hint: three values come out
def line(m, b, x):
    return m * x[0] + b
