# task: line
# loses: line-check
# hint: yours gives
def line(m, b, x):
    return m * x - b
