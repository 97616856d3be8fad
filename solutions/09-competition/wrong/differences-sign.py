# task: differences
# loses: differences-check
# hint: the signs are exchanged
def differences(accuracy, cause, low, high):
    found = []
    for run, value in accuracy.items():
        partner = (*run[:cause], high, *run[cause + 1 :])
        if run[cause] == low and partner in accuracy:
            found.append(value - accuracy[partner])
    return found
