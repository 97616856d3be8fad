# task: counterexample
def counterexample(f, numbers):
    whole = f(numbers)
    pairs = ((list(o[:c]), list(o[c:])) for o in itertools.permutations(numbers) for c in range(1, len(o)))
    return next((pair for pair in pairs if f([f(pair[0]), f(pair[1])]) != whole), None)
