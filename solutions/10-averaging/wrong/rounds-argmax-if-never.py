# task: rounds
# loses: rounds-check
# hint: 95% is never reached, so
def rounds_to(a, numbers, accuracies):
    return numbers[np.argmax(np.array(accuracies) >= a)]


def speed_up(N, M, tau):
    return N / (tau * M)
