# task: differences
# loses: differences-check
# hint: is 2h, not h
def differences(R, w, h):
    gradient = np.zeros(len(w))
    for j in range(len(w)):
        e = np.zeros(len(w))
        e[j] = h
        gradient[j] = (R(w + e) - R(w - e)) / h
    return gradient
