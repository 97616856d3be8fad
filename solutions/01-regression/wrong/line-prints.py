# task: line
# loses: line-check
# hint: `line` returned None
def line(m, b, x):
    print(m * x + b)
