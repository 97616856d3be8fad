# task: rounds
# loses: rounds-check
# hint: but it was so after 15 rounds already
def rounds_to(a, numbers, accuracies):
    reached = [number for number, accuracy in zip(numbers, accuracies, strict=True) if accuracy >= a]
    return reached[-1] if reached else np.inf


def speed_up(N, M, tau):
    return N / (tau * M)
