# task: rounds
# loses: rounds-check
# hint: after 10 rounds the accuracy is 85%
def rounds_to(a, numbers, accuracies):
    below = [number for number, accuracy in zip(numbers, accuracies, strict=True) if accuracy < a]
    return below[-1] if len(below) < len(numbers) else np.inf


def speed_up(N, M, tau):
    return N / (tau * M)
