# task: three-errors
def three_errors(excess, best, fitted, found):
    return np.diff([0, excess(best), excess(fitted), excess(found)])
