# task: differences
# loses: differences-check
# hint: moves all weights at once
def differences(R, w, h):
    gradient = np.zeros(len(w))
    for j in range(len(w)):
        e = np.zeros(len(w))
        e[:] = h
        gradient[j] = (R(w + e) - R(w - e)) / (2 * h)
    return gradient
