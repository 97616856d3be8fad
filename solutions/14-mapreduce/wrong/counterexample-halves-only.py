# task: counterexample
# loses: counterexample-check
# hint: the mean may not be combined, but you found no counterexample in [1, 2, 3, 10].
def counterexample(f, numbers):
    for order in [numbers, numbers[::-1]]:
        for cut in [len(numbers) // 2]:
            left, right = list(order[:cut]), list(order[cut:])
            if f([f(left), f(right)]) != f(numbers):
                return left, right
    return None
