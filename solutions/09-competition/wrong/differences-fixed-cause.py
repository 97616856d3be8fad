# task: differences
# loses: differences-check
# hint: Use the position `cause`
def differences(accuracy, cause, low, high):
    found = []
    for run, value in accuracy.items():
        partner = (*run[:1], high, *run[2:])
        if run[1] == low and partner in accuracy:
            found.append(accuracy[partner] - value)
    return found
