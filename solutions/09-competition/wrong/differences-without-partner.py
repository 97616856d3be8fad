# task: differences
# loses: differences-check
# hint: (43, 3, False)
def differences(accuracy, cause, low, high):
    found = []
    for run, value in accuracy.items():
        if run[cause] == low:
            found.append(accuracy[(*run[:cause], high, *run[cause + 1 :])] - value)
    return found
