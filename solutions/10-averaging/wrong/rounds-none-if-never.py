# task: rounds
# loses: rounds-check
# hint: so the result is np.inf
def rounds_to(a, numbers, accuracies):
    for number, accuracy in zip(numbers, accuracies, strict=True):
        if accuracy >= a:
            return number


def speed_up(N, M, tau):
    return N / (tau * M)
