# task: touched
def touched(training, test, r):
    from scipy import ndimage

    near = ndimage.binary_dilation(training, np.ones((2 * r + 1, 2 * r + 1)))
    return np.mean(near[test])
