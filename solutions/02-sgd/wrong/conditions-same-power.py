# task: conditions
# loses: conditions-check
# hint: so its sum is finite.
def conditions(p):
    return p <= 1, p > 1
