# task: counterexample
# loses: counterexample-check
# hint: max may be combined, but yours says
def counterexample(f, numbers):
    for order in itertools.permutations(numbers):
        for cut in range(1, len(numbers)):
            left, right = list(order[:cut]), list(order[cut:])
            if f(left) + f(right) != f(numbers):
                return left, right
    return None
