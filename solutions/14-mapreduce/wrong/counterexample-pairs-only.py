# task: counterexample
# loses: counterexample-check
# hint: you found no counterexample
def counterexample(f, numbers):
    for a, b in itertools.permutations(numbers, 2):
        if f([a, b]) != f([b, a]):
            return [a], [b]
    return None
