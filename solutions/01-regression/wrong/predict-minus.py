# task: predict
# loses: predict-check
# hint: yours gives
def predict(m, b, x):
    return m * x - b
