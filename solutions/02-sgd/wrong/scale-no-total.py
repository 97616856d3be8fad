# task: scale
# loses: scale-check
# hint: was never called
def scale(total, n, budget):
    return "small" if n < budget else "large"
