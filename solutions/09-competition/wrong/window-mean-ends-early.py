# task: window-mean
# loses: window-mean-check
# hint: A slice ends before its end
def window_mean(image, r):
    means = np.empty(image.shape)
    for row in range(image.shape[0]):
        for column in range(image.shape[1]):
            window = image[max(row - r, 0) : row + max(r, 1), max(column - r, 0) : column + max(r, 1)]
            means[row, column] = window.mean(axis=(0, 1))
    return means
