# task: classify
# loses: classify-check, classify-scene-check
# hint: a label map is of uint8
def classify(cube, labels, seed):
    r = min(5, scene.reach(labels))
    return fit_and_predict(window_mean(components(cube, 30), r), labels).astype(int)
