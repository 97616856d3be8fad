# task: logistic
# loses: logistic-large-check
# hint: Its digits were lost
def logistic(v):
    return 0.5 * (1 + np.tanh(v / 2))


def logistic_prime(v):
    return 0.25 * (1 - np.tanh(v / 2) ** 2)
