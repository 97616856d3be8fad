# task: differences
# loses: differences-check
# hint: return a list with one difference per pair
def differences(accuracy, cause, low, high):
    highs = [value for run, value in accuracy.items() if run[cause] == high]
    lows = [value for run, value in accuracy.items() if run[cause] == low]
    return np.mean(highs or [0]) - np.mean(lows or [0])
