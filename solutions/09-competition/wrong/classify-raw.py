# task: classify
# loses: classify-scene-check
# hint: Step 5 shows what windows can add
def classify(cube, labels, seed):
    return fit_and_predict(cube, labels)
