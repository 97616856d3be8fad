# task: iterations
# loses: iterations-check
# hint: Nobody takes half a step
def iterations(n, B):
    return n / B
