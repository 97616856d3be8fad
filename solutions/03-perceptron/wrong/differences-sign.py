# task: differences
# loses: differences-check
# hint: subtract R(w - h) from R(w + h), not
def differences(R, w, h):
    gradient = np.zeros(len(w))
    for j in range(len(w)):
        e = np.zeros(len(w))
        e[j] = h
        gradient[j] = (R(w - e) - R(w + e)) / (2 * h)
    return gradient
