# task: scale
# loses: scale-check
# hint: you halved a number
def scale(total, n, budget):
    return "small" if total(n / 2, budget) > total(n, budget / 2) else "large"
