# task: sharpness
# loses: sharpness-check
# hint: the last loss of the climb
def sharpness(loss, gradient, w, epsilon, steps):
    bound = epsilon * (np.abs(w) + 1)
    y = np.zeros_like(w)
    highest = before = loss(w)
    for _ in range(steps):
        y = np.clip(y + 2 / steps * bound * np.sign(gradient(w + y)), -bound, bound)
        highest = loss(w + y)
    return 100 * (highest - before) / (1 + before)
