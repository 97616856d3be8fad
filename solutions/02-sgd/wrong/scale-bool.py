# task: scale
# loses: scale-check
# hint: return the word
def scale(total, n, budget):
    return total(2 * n, budget) < total(n, 2 * budget)
