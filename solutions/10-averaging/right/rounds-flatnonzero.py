# task: rounds
def rounds_to(a, numbers, accuracies):
    places = np.flatnonzero(np.asarray(accuracies) >= a)
    return numbers[places[0]] if len(places) else np.inf


def speed_up(N, M, tau):
    iterations = M * tau
    return N / iterations
