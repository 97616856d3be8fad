# task: three-errors
# loses: three-errors-check
# hint: the optimization error is negative
def three_errors(excess, best, fitted, found):
    return excess(best), abs(excess(fitted) - excess(best)), abs(excess(found) - excess(fitted))
