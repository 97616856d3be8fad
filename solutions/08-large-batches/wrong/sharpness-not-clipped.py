# task: sharpness
# loses: sharpness-check
# hint: 533 leaves the box
def sharpness(loss, gradient, w, epsilon, steps):
    bound = epsilon * (np.abs(w) + 1)
    y = np.zeros_like(w)
    highest = before = loss(w)
    for _ in range(steps):
        y = y + 2 / steps * bound * np.sign(gradient(w + y))
        highest = max(highest, loss(w + y))
    return 100 * (highest - before) / (1 + before)
