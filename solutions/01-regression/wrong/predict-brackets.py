# task: predict
# loses: predict-check
# hint: m·(x + b)
def predict(m, b, x):
    return m * (x + b)
