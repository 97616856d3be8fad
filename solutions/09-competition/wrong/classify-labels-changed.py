# task: classify
# loses: classify-check
# hint: changes `labels`
def classify(cube, labels, seed):
    predicted = fit_and_predict(window_mean(components(cube, 30), min(5, scene.reach(labels))), labels)
    labels[labels == 0] = predicted[labels == 0]
    return labels
