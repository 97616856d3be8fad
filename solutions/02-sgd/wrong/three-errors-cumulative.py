# task: three-errors
# loses: three-errors-check
# hint: distances from f* of three functions
def three_errors(excess, best, fitted, found):
    return excess(best), excess(fitted), excess(found)
