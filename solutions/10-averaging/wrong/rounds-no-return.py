# task: rounds
# loses: rounds-check
# hint: speed_up returned None
def rounds_to(a, numbers, accuracies):
    reached = [number for number, accuracy in zip(numbers, accuracies, strict=True) if accuracy >= a]
    return reached[0] if reached else np.inf


def speed_up(N, M, tau):
    times = N / (tau * M)
