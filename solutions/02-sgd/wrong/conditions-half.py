# task: conditions
# loses: conditions-check
# hint: and the sum of 1/t is infinite
def conditions(p):
    return p <= 1, p >= 1 / 2
