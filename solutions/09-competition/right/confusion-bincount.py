# task: confusion
def confusion(true, said, classes):
    return np.bincount(classes * true + said, minlength=classes**2).reshape(classes, classes)
