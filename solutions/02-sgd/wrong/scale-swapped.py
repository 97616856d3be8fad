# task: scale
# loses: scale-check
# hint: twice the time leads to the smaller error
def scale(total, n, budget):
    return "large" if total(2 * n, budget) < total(n, 2 * budget) else "small"
