# task: iterations
# loses: iterations-check
# hint: 2 examples are never used
def iterations(n, B):
    return n // B
