# task: counterexample
# loses: counterexample-check
# hint: the first number may not be combined
def counterexample(f, numbers):
    for order in [numbers]:
        for cut in range(1, len(numbers)):
            left, right = list(order[:cut]), list(order[cut:])
            if f([f(left), f(right)]) != f(numbers):
                return left, right
    return None
