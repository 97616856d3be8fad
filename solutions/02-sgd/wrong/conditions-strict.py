# task: conditions
# loses: conditions-check
# hint: although very slowly
def conditions(p):
    return p < 1, p > 1 / 2
