# task: three-errors
# loses: three-errors-check
# hint: the order is reversed
def three_errors(excess, best, fitted, found):
    return excess(found) - excess(fitted), excess(fitted) - excess(best), excess(best)
