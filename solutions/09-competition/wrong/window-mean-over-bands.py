# task: window-mean
# loses: window-mean-check
# hint: average over rows and columns only
def window_mean(image, r):
    means = np.empty(image.shape)
    for row in range(image.shape[0]):
        for column in range(image.shape[1]):
            window = image[max(row - r, 0) : row + r + 1, max(column - r, 0) : column + r + 1]
            means[row, column] = window.mean()
    return means
