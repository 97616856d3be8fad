# task: window-mean
# loses: window-mean-check
# hint: Only 4 pixels exist there
def window_mean(image, r):
    padded = np.pad(image, ((r, r), (r, r), (0, 0)))
    rows, columns = image.shape[:2]
    total = np.zeros(image.shape)
    for i in range(2 * r + 1):
        for j in range(2 * r + 1):
            total += padded[i : i + rows, j : j + columns]
    return total / (2 * r + 1) ** 2
