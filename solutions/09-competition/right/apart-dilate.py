# task: apart
def apart(training, test):
    from scipy import ndimage

    distance, grown = 0, training
    while not (grown & test).any():
        grown = ndimage.binary_dilation(grown, np.ones((3, 3)))
        distance += 1
    return distance
