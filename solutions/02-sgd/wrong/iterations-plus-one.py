# task: iterations
# loses: iterations-check
# hint: one too many if B fits
def iterations(n, B):
    return n // B + 1
