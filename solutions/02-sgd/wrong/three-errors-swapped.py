# task: three-errors
# loses: three-errors-check
# hint: the estimation error and the optimization error are swapped
def three_errors(excess, best, fitted, found):
    return excess(best), excess(found) - excess(fitted), excess(fitted) - excess(best)
