# task: three-errors
# loses: three-errors-check
# hint: signs of the differences
def three_errors(excess, best, fitted, found):
    return excess(best), excess(best) - excess(fitted), excess(fitted) - excess(found)
