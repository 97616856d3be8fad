# task: iterations
# loses: iterations-check
# hint: one too many if B divides N
def iterations(n, B):
    return n // B + 1
