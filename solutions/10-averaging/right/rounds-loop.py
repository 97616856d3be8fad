# task: rounds
def rounds_to(a, numbers, accuracies):
    for number, accuracy in zip(numbers, accuracies, strict=True):
        if accuracy >= a:
            return number
    return float("inf")


def speed_up(N, M, tau):
    return N / M / tau
