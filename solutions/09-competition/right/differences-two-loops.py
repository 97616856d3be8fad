# task: differences
def differences(accuracy, cause, low, high):
    def rest(run):
        return run[:cause] + run[cause + 1 :]

    lows = [run for run in accuracy if run[cause] == low]
    highs = {rest(run): value for run, value in accuracy.items() if run[cause] == high}
    return [highs[rest(run)] - accuracy[run] for run in lows if rest(run) in highs]
