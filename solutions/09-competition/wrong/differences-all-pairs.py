# task: differences
# loses: differences-check
# hint: compare only runs that are
def differences(accuracy, cause, low, high):
    return [
        accuracy[other] - accuracy[run]
        for run in accuracy
        for other in accuracy
        if run[cause] == low and other[cause] == high
    ]
