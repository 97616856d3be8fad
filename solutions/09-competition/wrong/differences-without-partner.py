# task: differences
# loses: differences-check
# hint: KeyError
def differences(accuracy, cause, low, high):
    found = []
    for run, value in accuracy.items():
        if run[cause] == low:
            found.append(accuracy[(*run[:cause], high, *run[cause + 1 :])] - value)
    return found
