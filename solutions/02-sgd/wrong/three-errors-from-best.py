# task: three-errors
# loses: three-errors-check
# hint: not from the best function in F
def three_errors(excess, best, fitted, found):
    return excess(best), excess(fitted) - excess(best), excess(found) - excess(best)
