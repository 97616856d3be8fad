# task: scale
# loses: scale-check
# hint: compare two cases
def scale(total, n, budget):
    return "small" if total(2 * n, budget) < total(n, budget) else "large"
