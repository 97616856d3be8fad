# task: confusion
def confusion(true, predicted, classes):
    return np.bincount(classes * true + predicted, minlength=classes**2).reshape(classes, classes)
