# task: iterations
# loses: iterations-check
# hint: Round up
def iterations(n, B):
    return round(n / B)
