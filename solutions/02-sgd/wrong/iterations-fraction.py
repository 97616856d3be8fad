# task: iterations
# loses: iterations-check
# hint: There is no half step
def iterations(n, B):
    return n / B
