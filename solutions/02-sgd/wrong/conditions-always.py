# task: conditions
# loses: conditions-check
# hint: the sum of its squares is infinite too
def conditions(p):
    return p <= 1, True
