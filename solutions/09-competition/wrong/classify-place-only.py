# task: classify
# loses: classify-scene-check
# hint: The nearest training pixel on the map does the same
def classify(cube, labels, seed):
    return nearest_on_the_map(labels)
