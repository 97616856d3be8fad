# task: online
# loses: online-check
# hint: other w than expected
def play_online(X, y, D, G):
    w, played = np.zeros(X.shape[1]), []
    for t, (x, target) in enumerate(zip(X, y, strict=True), 1):
        played.append(w)
        w = w - D / (G * np.sqrt(t)) * np.sign(x @ w - target) * x
        w = np.clip(w, -D / 2, D / 2)
    return np.array(played).reshape(X.shape)
