# task: conditions
def conditions(p):
    if p <= 0.5:
        return [True, False]
    return [p <= 1, True]
