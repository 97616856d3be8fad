# task: line
# loses: line-check
# hint: return
def line(m, b, x):
    print(m * x + b)
