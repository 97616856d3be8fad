# task: classify
def classify(cube, labels, seed):
    from scipy import ndimage

    r = min(12, scene.reach(labels))
    return fit_and_predict(ndimage.gaussian_filter(components(cube, 30), (4, 4, 0), radius=(r, r, 0)), labels)
