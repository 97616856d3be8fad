# task: counterexample
def counterexample(f, numbers):
    target = f(list(numbers))
    for size in range(len(numbers) - 1, 0, -1):
        for order in itertools.permutations(range(len(numbers))):
            left = [numbers[i] for i in order[:size]]
            right = [numbers[i] for i in order[size:]]
            if f([f(left), f(right)]) != target:
                return [left, right]
