# task: line
# loses: line-check
# hint: m·(x + b)
def line(m, b, x):
    return m * (x + b)
