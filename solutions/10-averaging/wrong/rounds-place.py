# task: rounds
# loses: rounds-check
# hint: is a place in the list
def rounds_to(a, numbers, accuracies):
    for place, accuracy in enumerate(accuracies):
        if accuracy >= a:
            return place
    return np.inf


def speed_up(N, M, tau):
    return N / (tau * M)
