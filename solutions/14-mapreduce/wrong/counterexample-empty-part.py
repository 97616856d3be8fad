# task: counterexample
# loses: counterexample-check
# hint: called with an empty list
def counterexample(f, numbers):
    for order in itertools.permutations(numbers):
        for cut in range(len(numbers)):
            left, right = list(order[:cut]), list(order[cut:])
            if f([f(left), f(right)]) != f(numbers):
                return left, right
    return None
