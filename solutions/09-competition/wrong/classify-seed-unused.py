# task: classify
# loses: classify-check
# hint: pass `seed` to everything that draws at random
def classify(cube, labels, seed):
    from sklearn.ensemble import ExtraTreesClassifier

    features = window_mean(components(cube, 30), min(4, scene.reach(labels)))
    known = labels > 0
    model = ExtraTreesClassifier(100).fit(features[known], labels[known])
    return model.predict(features.reshape(labels.size, -1)).reshape(labels.shape)
