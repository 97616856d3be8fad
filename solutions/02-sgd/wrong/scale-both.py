# task: scale
# loses: scale-check
# hint: doubled both numbers at once
def scale(total, n, budget):
    return "small" if total(2 * n, 2 * budget) < total(n, budget) else "large"
