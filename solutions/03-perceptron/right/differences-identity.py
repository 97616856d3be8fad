# task: differences
def differences(R, w, h):
    return np.array([(R(w + h * e) - R(w - h * e)) / (2 * h) for e in np.eye(len(w))])
