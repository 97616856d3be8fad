# task: conditions
# loses: conditions-check
# hint: the two conditions are swapped
def conditions(p):
    return p > 1 / 2, p <= 1
