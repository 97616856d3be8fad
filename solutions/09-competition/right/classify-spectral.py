# task: classify
def classify(cube, labels, seed):
    logs, width = np.log(cube.astype(float) + 1), cube.shape[2] / 100
    slopes = np.diff(ndimage.gaussian_filter1d(logs, width, axis=2), axis=2)
    both = np.concatenate([logs - logs.mean(axis=2, keepdims=True), slopes], axis=2)
    step = 1 + cube.shape[2] // 50
    return fit_and_predict(ndimage.gaussian_filter1d(both, width, axis=2)[:, :, ::step], labels)
