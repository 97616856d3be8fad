# task: counterexample
# loses: counterexample-check
# hint: the mean may not be combined, but you found no counterexample in [1, 2, 3].
def counterexample(f, numbers):
    for a, b in itertools.permutations(numbers, 2):
        if f([a, b]) != f([b, a]):
            return [a], [b]
    return None
