# task: online
# loses: online-check
# hint: expected w =
def play_online(X, y, D, G):
    w, played = np.zeros(X.shape[1]), []
    for t, (x, target) in enumerate(zip(X, y, strict=True), 1):
        played.append(w)
        w = w - D * G / np.sqrt(t) * np.sign(x @ w - target) * x
        length = np.sqrt(w @ w)
        if length > D / 2:
            w = w * (D / 2 / length)
    return np.array(played).reshape(X.shape)
