# task: counterexample
# loses: counterexample-check
# hint: a counterexample is a pair
def counterexample(f, numbers):
    for order in itertools.permutations(numbers):
        for cut in range(1, len(numbers)):
            left, right = list(order[:cut]), list(order[cut:])
            if f([f(left), f(right)]) != f(numbers):
                return list(order)
    return None
