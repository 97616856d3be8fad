# task: window-mean
# loses: window-mean-check
# hint: collect the means in a new array
def window_mean(image, r):
    for row in range(image.shape[0]):
        for column in range(image.shape[1]):
            window = image[max(row - r, 0) : row + r + 1, max(column - r, 0) : column + r + 1]
            image[row, column] = window.mean(axis=(0, 1))
    return image
