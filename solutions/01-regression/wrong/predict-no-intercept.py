# task: predict
# loses: predict-check
# hint: b is missing
def predict(m, b, x):
    return m * x
