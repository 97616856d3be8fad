# task: predict
# loses: predict-check
# hint: changed places
def predict(m, b, x):
    return b * x + m
