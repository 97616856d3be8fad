# task: classify
# loses: classify-scene-check
# hint: 95% is enough here
def classify(cube, labels, seed):
    return fit_and_predict(cube, labels)
