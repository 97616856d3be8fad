# task: line
# loses: line-check
# hint: m and b are swapped: m is the slope
def line(m, b, x):
    return b * x + m
